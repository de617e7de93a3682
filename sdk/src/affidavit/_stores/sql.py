"""Short transactions on any DB-API database (PEP 249), for the SQL stores."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from affidavit._errors import StoreUnavailable

T = TypeVar("T")

CONNECTIONS = 8
"""The most connections that one store of a process has open at once."""
PATIENCE = 10
"""Seconds to wait for a free connection."""


class Cursor(Protocol):
    """The part of a DB-API cursor that is used."""

    @property
    def rowcount(self) -> int: ...
    def execute(self, sql: str, parameters: Any, /) -> Any: ...
    def fetchone(self) -> Any: ...
    def close(self) -> None: ...


class Connection(Protocol):
    """The part of a DB-API connection that is used."""

    def cursor(self) -> Cursor: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


Execute = Callable[..., Cursor]
"""Runs one statement, `execute(sql, *parameters)`, on the connection of the transaction."""


class Turns:
    """A fair semaphore: the thread that has waited longest is next, even before one that asks again at once."""

    def __init__(self, count: int) -> None:
        self._lock = threading.Lock()
        self._count = count
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self, timeout: float) -> bool:
        """Wait for a turn. Return False if there was none within `timeout` seconds."""
        with self._lock:
            if self._count:
                self._count -= 1
                return True
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=timeout):
            return True
        with self._lock:
            if turn not in self._waiting:  # its turn came just now
                return True
            self._waiting.remove(turn)
        return False

    def release(self) -> None:
        """End a turn: hand it to the thread that has waited longest, if one waits."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._count += 1


class Database:
    """Runs short transactions on a few connections of its own.

    A forked child uses no connection of its parent, and no connection is used after a failure.

    connect: a callable that returns a new connection, which takes part in no transaction of a request. Several threads
        use a connection, one after the other, so a SQLite connection needs check_same_thread=False.
    paramstyle: the style of the driver, `qmark` or `format` (also `pyformat`); by default the one that the connection's
        module names.

    At most `connections` are open at once.
    """

    def __init__(
        self, connect: Callable[[], Any], paramstyle: str | None = None, *, connections: int = CONNECTIONS
    ) -> None:
        self._connect = connect
        self._connections = connections
        self._paramstyle = paramstyle
        self._pid = os.getpid()
        self._idle: list[Connection] = []
        self._parent_connections: list[Connection] = []
        self._free = Turns(connections)

    def run(self, work: Callable[[Execute], T]) -> T:
        """Call `work` with `execute(sql, *parameters)`, commit, and return what it returned.

        The SQL writes parameters as `?`. If an idle connection fails before the commit, `work` is called once more with
        a new connection, because the database may have closed the idle one. Any other failure raises StoreUnavailable.
        """
        self._leave_parent()
        free = self._free
        if not free.acquire(timeout=PATIENCE):
            raise StoreUnavailable("the database of the store is too slow: every connection to it is busy")
        try:
            return self._run_with_retry(work)
        finally:
            free.release()

    def close_idle(self) -> None:
        """Close the connections that are not in use; the next transaction opens another."""
        while self._idle:
            with suppress(IndexError):  # another thread has taken it
                _discard(self._idle.pop())

    def _run_with_retry(self, work: Callable[[Execute], T]) -> T:
        if self._idle:
            with suppress(_BeforeCommit, IndexError):
                return self._run_once(work, self._idle.pop())
        try:
            return self._run_once(work, None)
        except _BeforeCommit as failure:
            raise StoreUnavailable("the database of the store cannot be reached or written to") from failure.__cause__

    def _run_once(self, work: Callable[[Execute], T], connection: Connection | None) -> T:
        try:
            connection = connection or self._open_connection()
            result = work(self._execute_on(connection))
        except BaseException as failure:
            _discard(connection)
            if isinstance(failure, Exception):  # every driver has its own errors; none of them may let a call pass
                raise _BeforeCommit from failure
            raise
        self._commit(connection)
        self._idle.append(connection)
        return result

    def _open_connection(self) -> Connection:
        connection: Any = self._connect()
        # psycopg prepares statements that run often. Behind PgBouncer in transaction mode, the name of one may belong
        # to another statement, of another client.
        if getattr(connection, "prepare_threshold", None) is not None:
            connection.prepare_threshold = None
        opened: Connection = connection
        return opened

    def _execute_on(self, connection: Connection) -> Execute:
        def execute(sql: str, *parameters: object) -> Cursor:
            cursor = connection.cursor()
            cursor.execute(self._translate(sql, connection), parameters)
            return cursor

        return execute

    def _commit(self, connection: Connection) -> None:
        try:
            connection.commit()
        except Exception as failure:  # of any driver; the commit may have been stored, so there is no second try
            _discard(connection)
            raise StoreUnavailable("the database of the store did not confirm a write") from failure

    def _leave_parent(self) -> None:
        """In a forked child, leave the parent its connections, and the turns that its threads hold."""
        if self._pid != os.getpid():
            self._parent_connections = self._idle  # kept, because closing them here would end them for the parent
            self._idle = []
            self._free = Turns(self._connections)
            self._pid = os.getpid()

    def _translate(self, sql: str, connection: Connection) -> str:
        if self._paramstyle is None:
            self._paramstyle = _find_paramstyle(connection)
        return sql if self._paramstyle == "qmark" else sql.replace("?", "%s")


def _discard(connection: Connection | None) -> None:
    if connection is not None:
        with suppress(Exception):  # the connection is broken already; closing only frees what is left
            connection.close()


class _BeforeCommit(Exception):
    """The transaction failed before its commit, so nothing was stored."""


def _find_paramstyle(connection: Connection) -> str:
    """Return the paramstyle of the driver of a connection (PEP 249: an attribute of the driver's module)."""
    driver = sys.modules.get(type(connection).__module__.partition(".")[0])
    return str(getattr(driver, "paramstyle", "qmark"))


def run_unfailing(step: Callable[[], object]) -> None:
    """Run a step that must not make a request fail, such as pruning; a later request tries again."""
    with suppress(StoreUnavailable):
        step()
