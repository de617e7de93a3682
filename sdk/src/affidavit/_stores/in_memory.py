"""Stores in memory: an event loop may call them without a thread, and several workers cannot share one."""

import multiprocessing
import os
import re
from pathlib import Path

from affidavit._errors import StoreUnavailable

_DIFFERING = re.compile(rb"pipe_handle=\d+|\b(?:master|worker)\b")


def is_in_memory(store: object) -> bool:
    """Return whether a store waits for nothing outside this process, as its attribute `is_in_memory` says."""
    return bool(getattr(store, "is_in_memory", False))


class OneProcess:
    """Refuses a store in memory with several workers, because each would have a store of its own.

    It detects a fork since the store was first used, WEB_CONCURRENCY above 1, and on Linux a second worker of the same
    server (gunicorn, uWSGI, uvicorn, granian).

    several_workers: True to allow several workers.
    """

    def __init__(self, several_workers: bool) -> None:
        self._allows_several_workers = several_workers
        self._pid: int | None = None

    def check(self) -> None:
        """Raise StoreUnavailable if this process is one of several workers, or has forked."""
        if self._allows_several_workers or self._pid == os.getpid():
            return
        cause = "the process forked" if self._pid is not None else _sign_of_other_workers()
        if cause:
            raise StoreUnavailable(
                f"a store in memory serves one process, but {cause}. Use SqliteNonces and SqliteDeliveries (for one "
                "machine), the SQL or the Redis stores, or pass several_workers=True if each worker may well accept "
                "the same intent once."
            )
        self._pid = os.getpid()

    def check_again(self) -> None:
        """Check again: other workers may have started after this one."""
        self._pid = None if self._pid == os.getpid() else self._pid
        self.check()


def _sign_of_other_workers() -> str | None:
    worker_count = os.environ.get("WEB_CONCURRENCY", "")
    if worker_count.isdecimal() and int(worker_count) > 1:
        return f"WEB_CONCURRENCY is {worker_count}"
    return "the server runs several workers" if _is_one_of_several() else None


def _is_one_of_several() -> bool:
    """Return whether this process and a sibling are workers of one parent. Return False if /proc cannot be read."""
    own, parent = os.getpid(), os.getppid()
    command = _read_command_line(own)
    # A forked worker has its parent's command line. Two processes started from one shell do not.
    if command is None or (command != _read_command_line(parent) and multiprocessing.parent_process() is None):
        return False
    try:
        siblings = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return False
    return any(int(pid) != own and _read_command_line(int(pid)) == command for pid in siblings)


def _read_command_line(pid: int) -> bytes | None:
    """Return the command line without the parts in which workers differ: spawn's pipe and gunicorn's process titles."""
    try:
        return _DIFFERING.sub(b"", Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return None
