"""One small way to any DB-API database (PEP 249), for the SQL stores."""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from ._store import StoreUnavailable

T = TypeVar("T")


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


class Database:
    """Short transactions of their own, on one connection per thread that survives neither fork nor failure.

    connect: gives a new connection, outside any transaction of a request. paramstyle: the driver's, `qmark`
    or `format` (also `pyformat`); found out by the connection's module when not given.
    """

    def __init__(self, connect: Callable[[], Any], paramstyle: str | None = None) -> None:
        self._connect = connect
        self._paramstyle = paramstyle
        self._local = threading.local()

    def run(self, work: Callable[[Callable[..., Cursor]], T]) -> T:
        """What `work` returns, after its statements are committed. `work` gets `execute(sql, *parameters)`.

        The SQL writes parameters as `?`. A failure before the commit is tried once more on a new connection,
        because an idle one may have been closed; every other is StoreUnavailable.
        """
        try:
            return self._once(work)
        except _BeforeCommit:
            pass
        try:
            return self._once(work)
        except _BeforeCommit as failure:
            raise StoreUnavailable(
                "the database of the store cannot be reached or written to"
            ) from failure.__cause__

    def _once(self, work: Callable[[Callable[..., Cursor]], T]) -> T:
        cursors: list[Cursor] = []
        try:
            connection = self._connection()

            def execute(sql: str, *parameters: object) -> Cursor:
                cursor = connection.cursor()
                cursors.append(cursor)
                cursor.execute(self._translated(sql, connection), parameters)
                return cursor

            result = work(execute)
            for cursor in cursors:
                cursor.close()
        except BaseException as failure:
            self._discard()
            if isinstance(failure, Exception):  # every driver has its own classes; none may pass a call
                raise _BeforeCommit from failure
            raise
        self._commit(connection)
        return result

    def _commit(self, connection: Connection) -> None:
        try:
            connection.commit()
        except Exception as failure:  # as above; and whether it was stored is not known, so no second try
            self._discard()
            raise StoreUnavailable("the database of the store did not confirm a write") from failure

    def _connection(self) -> Connection:
        if getattr(self._local, "pid", None) != os.getpid():
            self._local.connection = self._connect()
            self._local.pid = os.getpid()
        connection: Connection = self._local.connection
        return connection

    def _discard(self) -> None:
        connection: Connection | None = getattr(self._local, "connection", None)
        own = getattr(self._local, "pid", None) == os.getpid()
        self._local.pid = self._local.connection = None
        if connection is not None and own:
            with suppress(Exception):  # it is broken already; closing only frees what is left
                connection.close()

    def _translated(self, sql: str, connection: Connection) -> str:
        if self._paramstyle is None:
            self._paramstyle = _paramstyle_of(connection)
        return sql if self._paramstyle == "qmark" else sql.replace("?", "%s")


class _BeforeCommit(Exception):
    """Nothing was stored."""


def _paramstyle_of(connection: Connection) -> str:
    """The paramstyle of the driver whose connection this is (PEP 249 has it on the driver's module)."""
    driver = sys.modules.get(type(connection).__module__.partition(".")[0])
    return str(getattr(driver, "paramstyle", "qmark"))


def unfailing(step: Callable[[], object]) -> None:
    """Runs a step that no request may fail for, as pruning; the next one tries again."""
    with suppress(StoreUnavailable):
        step()
