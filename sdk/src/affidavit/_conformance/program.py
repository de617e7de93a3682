"""A program that answers questions over a line protocol: one JSON object per line in, one per line out."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress

MAX_ANSWER = 1024 * 1024
"""Bytes of one line of output."""
_MAX_ERRORS_KEPT = 4 * 1024
_MAX_ERROR_SHOWN = 200
_CHUNK = 64 * 1024
_GRACE = 2.0
"""Seconds that a program has to end after its input or its output was closed."""


class ProgramFault(Exception):
    """The program gave no answer: it crashed, took too long or wrote too much. The message says which."""


class Program:
    """One run of a program. Ask one question at a time; after a ProgramFault only `end` or `kill` may follow."""

    def __init__(self, process: Process, time_limit: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._time_limit = time_limit
        self._questions = process.stdin
        self._answers = process.stdout
        self._errors = bytearray()
        self._error_reader = asyncio.create_task(self._read_errors(process.stderr))

    @classmethod
    async def start(cls, command: Sequence[str], *, time_limit: float) -> "Program":
        """Start a program.

        time_limit: seconds for each answer.

        Raises OSError if there is no such program.
        """
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=MAX_ANSWER, start_new_session=True
        )
        return cls(process, time_limit)

    async def ask(self, question: bytes) -> bytes:
        """Send a line and return the next line of output. Raises ProgramFault."""
        try:
            async with asyncio.timeout(self._time_limit):
                self._questions.write(question + b"\n")
                await self._questions.drain()
                answer = await self._answers.readline()
        except TimeoutError:
            raise ProgramFault(
                f"no answer within {self._time_limit:g} s; does the program flush its output after each line?"
            ) from None
        except ValueError:
            raise ProgramFault(f"a line of output over {MAX_ANSWER} bytes") from None
        except ConnectionError:
            answer = b""
        if not answer.endswith(b"\n"):
            raise ProgramFault(await self._describe_end())
        return answer

    async def end(self) -> None:
        """Close the program's input, and kill the program and its children if they have not ended soon after."""
        with suppress(OSError):
            self._questions.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _GRACE)
        await self.kill()

    async def kill(self) -> None:
        """Kill the program and its children."""
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                while await self._answers.read(_CHUNK):  # asyncio reports the end only after the output was read
                    pass
                await self._process.wait()
        self._error_reader.cancel()
        # A child that left the group may hold the pipes; asyncio has no public way to close them.
        self._process._transport.close()  # type: ignore[attr-defined]  # a private name, so untyped

    async def _describe_end(self) -> str:
        """Say how the program ended, and the last line that it wrote to its standard error."""
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(self._process.wait(), asyncio.shield(self._error_reader)), _GRACE)
        status = self._process.returncode
        if status is None:
            message = "the program closed its output"
        elif status < 0:
            message = f"the program was ended by signal {-status}"
        else:
            message = f"the program ended with status {status}"
        lines = self._errors.decode(errors="replace").split("\n")
        last_line = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{message}: {last_line[:_MAX_ERROR_SHOWN]!a}" if last_line else message

    async def _read_errors(self, source: asyncio.StreamReader) -> None:
        while chunk := await source.read(_CHUNK):
            self._errors += chunk
            del self._errors[:-_MAX_ERRORS_KEPT]
