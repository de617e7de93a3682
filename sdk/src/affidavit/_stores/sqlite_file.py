"""A SQLite file as the store of several processes: one connection in each, and none carried across a fork."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from weakref import WeakValueDictionary

from .sql import Database, Execute, T, Turns

_BUSY_TIMEOUT = 5.0
"""Seconds to wait for the write of another process. A write takes well under a millisecond."""
_FORK_PATIENCE = 1.0
"""Seconds that a fork waits for a running transaction."""
_JOURNAL_LIMIT = 16 * 1024 * 1024
"""Bytes that the write-ahead log keeps on disk after a checkpoint."""
_CHECK_EVERY = 0.1
"""Seconds between two checks that the path still leads to the open files. A check takes a third of a write's time."""

_log = logging.getLogger("affidavit.protection")


class SqliteFile(Database):
    """One file in one process.

    All stores in the file share one connection, so that threads wait for each other here and not at the file's lock.

    The journal is a write-ahead log, with `synchronous = NORMAL`: a write survives the crash of any process. A power
    failure can undo the writes of the last moments. That is harmless. An intent of these moments is valid for a few
    minutes only, and expires while the machine is down. A retry of a call of these moments runs the call again, as
    after any crash. If the log is not available (network file systems), each write is synchronous.

    Before a transaction it is checked, ten times per second at most, that the path still leads to the open files.
    Otherwise a process could go on with deleted files while a later one has new ones, and each would accept the same
    intent.
    """

    def __init__(self, path: str) -> None:
        super().__init__(self._open, "qmark", connections=1)
        self._path = path
        self._schema: list[str] = []
        self._fork_turns: Turns | None = None
        self._file_ids: list[tuple[int, int] | None] = []
        self._next_check = 0.0

    def __del__(self) -> None:
        if self._pid == os.getpid():
            self.close_idle()

    def require(self, statements: Sequence[str]) -> None:
        """Run `statements` whenever the file is opened."""
        self._schema += [statement for statement in statements if statement not in self._schema]
        self.close_idle()

    def hold(self) -> None:
        """Prepare for a fork: wait for the running transaction, let no other begin, and close the connection.

        Otherwise the child would take the parent's locks on the file for its own.
        """
        self._leave_parent()
        turns = self._free
        if turns.acquire(timeout=_FORK_PATIENCE):
            self._fork_turns = turns
            self.close_idle()

    def release(self) -> None:
        """Let transactions begin again after a fork, in the parent."""
        if self._fork_turns is not None:
            self._fork_turns.release()
            self._fork_turns = None

    def _run_with_retry(self, work: Callable[[Execute], T]) -> T:
        if self._idle and self._must_reopen():
            self.close_idle()
            _log.error(
                "the file of a store was deleted or replaced: %s. A new one is used. An intent that was used before "
                "may pass once more, and a retry of an earlier call runs again",
                self._path,
            )
        return super()._run_with_retry(work)

    def _must_reopen(self) -> bool:
        now = time.monotonic()
        if now < self._next_check:
            return False
        self._next_check = now + _CHECK_EVERY
        return self._identify_files() != self._file_ids

    def _identify_files(self) -> list[tuple[int, int] | None]:
        return [_identify(self._path + ending) for ending in ("", "-wal", "-shm")]

    def _open(self) -> sqlite3.Connection:
        with suppress(FileExistsError):  # a new file is private: it holds responses
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        file_id = _identify(self._path)  # before it is opened: if it is replaced meanwhile, the next check says so
        connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT, check_same_thread=False)
        try:
            if _use_write_ahead_log(connection):
                connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL_LIMIT}")
            for statement in self._schema:
                connection.execute(statement)
            self._file_ids = [file_id, *self._identify_files()[1:]]
        except BaseException:
            connection.close()
            raise
        return connection


def _identify(path: str) -> tuple[int, int] | None:
    """Return what tells a file from a later one of the same name; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _use_write_ahead_log(connection: sqlite3.Connection) -> bool:
    """Switch the file to a write-ahead log, and return whether it has one now.

    SQLite itself does not wait while another process switches the file too, so this function tries again.
    """
    deadline = time.monotonic() + _BUSY_TIMEOUT
    while True:
        try:
            return bool(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


_files: "WeakValueDictionary[str, SqliteFile]" = WeakValueDictionary()


def open_file(path: str | os.PathLike[str], schema: Sequence[str]) -> SqliteFile:
    """Return this process's object for a file, which is opened when it is first used.

    Raises ValueError for a path that names no file, such as `:memory:`.
    """
    name = os.fspath(path)
    if name in ("", ":memory:") or name.startswith("file:"):
        raise ValueError("give the path of a file; without one, use the stores in memory")
    name = os.path.abspath(name)
    file = _files.setdefault(name, SqliteFile(name))
    file.require(schema)
    return file


def _hold_all() -> None:
    for file in list(_files.values()):
        file.hold()


def _release_all() -> None:
    for file in list(_files.values()):
        file.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all)
