"""The output of `manage.py`. If it cannot be written, the error says so, and does not speak of the hub's folders."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO, cast

from hub.local.startup_errors import StartupError


@contextmanager
def check_output() -> Iterator[None]:
    """In this block, raise StartupError for a standard output that cannot be written, such as a pipe that was closed.

    An output that was closed before the process began (`>&-`) is one that discards everything.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # open until the process ends
    stream = sys.stdout
    sys.stdout = cast(TextIO, _CheckedOutput(stream))
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        finally:
            sys.stdout = stream


class _CheckedOutput:
    """A stream whose failures are not those of the hub's own files."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._refuse(error)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._refuse(error)

    def _refuse(self, error: OSError) -> NoReturn:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())  # else Python's own flush at exit fails again
        raise StartupError(f"the output cannot be written: {error.strerror}.") from None
