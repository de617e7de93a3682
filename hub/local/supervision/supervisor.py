"""Keep the processes of one machine running: restart those that end, stop all of them together."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from hub.local.startup_errors import StartupError
from hub.local.supervision.parent_death import build_parent_watch

POLL_SECONDS = 0.2
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0  # seconds until a restart; doubled after each failure
STEADY_SECONDS = 60.0  # after running this long, a program's earlier failures no longer count
MOST_FAILURES = 10  # in a row; their pauses take about a minute
STOP_SECONDS = 15.0

log = logging.getLogger("affidavit.up")


class Program(Protocol):
    """A program that is kept running. `start` may raise StartupError or OSError."""

    @property
    def name(self) -> str: ...

    def start(self) -> None: ...

    def describe_end(self) -> str | None:
        """Say how it ended; None while it runs."""


@dataclass
class Restarts:
    """The restarts of one program. Times are monotonic seconds."""

    started_at: float = 0.0
    failures: int = 0

    def note_start(self, now: float) -> None:
        self.started_at = now

    def note_failure(self, now: float) -> float | None:
        """Return the seconds until the program is to be started again; None if another start does not help."""
        if now - self.started_at >= STEADY_SECONDS:
            self.failures = 0
        self.failures += 1
        if self.failures >= MOST_FAILURES:
            return None
        return min(FIRST_PAUSE * 2.0 ** (self.failures - 1), LONGEST_PAUSE)


@dataclass
class Child:
    """A child process that ends with this process. It has a process group of its own."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: str
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.kill_group()
        self.process = subprocess.Popen(
            self.command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
            start_new_session=True,  # a terminal's Ctrl-C is for this process, which stops its children
            preexec_fn=build_parent_watch(),  # safe: this process has one thread
        )  # fmt: skip

    def describe_end(self) -> str | None:
        status = self.process.poll() if self.process else None
        if status is None:
            return None
        return f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

    def terminate(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()

    def wait(self, seconds: float) -> None:
        """Wait until the program has ended, for at most these seconds. Then kill what is left of its process group."""
        if self.process:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(max(seconds, 0.0))
            self.kill_group()
            self.process.wait()

    def kill_group(self) -> None:
        """Kill the processes that a killed process left behind: a web server's workers, which hold its port."""
        if self.process:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)


@dataclass
class _Slot:
    program: Program
    restarts: Restarts = field(default_factory=Restarts)
    due_at: float | None = 0.0
    """The time of its next start; None while the program runs."""


class Supervisor:
    """Runs programs until it is asked to stop, or until restarting one of them no longer helps.

    on_round: called several times a second.
    """

    def __init__(
        self, programs: Iterable[Program], on_round: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._slots = [_Slot(program) for program in programs]
        self._on_round = on_round
        self._clock = clock
        self._is_stopping = False
        self.status = 0

    def stop(self, status: int = 0) -> None:
        """Ask to stop with this exit status. A signal handler may call this."""
        self._is_stopping, self.status = True, self.status or status

    def run(self) -> int:
        """Keep all programs running. Return the exit status: not 0 if one of them could not be kept running."""
        while not self._is_stopping:
            for slot in self._slots:
                self._tend(slot)
            self._on_round()
            time.sleep(POLL_SECONDS)
        return self.status

    def _tend(self, slot: _Slot) -> None:
        if slot.due_at is None:
            if end := slot.program.describe_end():
                self._note_failure(slot, end)
        elif self._clock() >= slot.due_at:
            try:
                slot.program.start()
            except (StartupError, OSError) as error:
                self._note_failure(slot, f"did not start: {error}")
            else:
                slot.due_at = None
                slot.restarts.note_start(self._clock())

    def _note_failure(self, slot: _Slot, end: str) -> None:
        now = self._clock()
        pause = slot.restarts.note_failure(now)
        if pause is None:
            log.error("%s %s, %d times in a row: the hub stops", slot.program.name, end, slot.restarts.failures)
            self.stop(1)
            return
        log.warning("%s %s; it is started again in %.1f s", slot.program.name, end, pause)
        slot.due_at = now + pause


def stop_children(children: Sequence[Child]) -> None:
    """Stop child processes together; kill a process that does not stop in time."""
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        child.terminate()
    for child in children:
        child.wait(deadline - time.monotonic())
