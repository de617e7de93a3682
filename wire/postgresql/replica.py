"""Reads that may be a little old come from a read replica, if REPLICA_DATABASE_URL names one.

Within `read_from_replica`, reads go to the replica: by the ORM (`ReplicaRouter`) and in SQL of our own
(`get_read_connection`). All else, and whatever writes or locks, goes to the primary.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.db.backends.base.base import BaseDatabaseWrapper

REPLICA_ALIAS = "replica"
CHECK_SECONDS = 1.0  # between two measurements of one process, so an age is known to about a second
AWAY_SECONDS = 10.0  # how long no query goes to a replica that failed
MAX_POSITIONS = 600

# Positions in the write-ahead log, in bytes. A server that is not a replica (any more) answers the second with NULL.
PRIMARY_POSITION = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"
REPLICA_POSITION = "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() - '0/0'::pg_lsn END"


class ReadSource(NamedTuple):
    """The database to which reads go.

    age: how many seconds old the replica was at most; None for the primary.
    """

    alias: str
    age: float | None


PRIMARY = ReadSource(DEFAULT_DB_ALIAS, None)
_source: ContextVar[ReadSource] = ContextVar("read source", default=PRIMARY)


@contextmanager
def read_from_replica(age: float) -> Iterator[None]:
    """Read from the replica within the block.

    age: how old the replica is, in seconds.
    """
    token = _source.set(ReadSource(REPLICA_ALIAS, age))
    try:
        yield
    finally:
        _source.reset(token)


def get_read_alias() -> str:
    return _source.get().alias


def get_read_age() -> float | None:
    """Return how many seconds the reads may be behind the primary; None while they go to the primary."""
    return _source.get().age


def get_read_connection() -> BaseDatabaseWrapper:
    """Return the connection for SQL that only reads."""
    return connections[get_read_alias()]


class ReplicaRouter:
    """Send the ORM's reads to the replica or the primary. Django asks the router for the database of every query."""

    def db_for_read(self, model: object, **hints: object) -> str:
        return get_read_alias()

    def db_for_write(self, model: object, **hints: object) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: object, second: object, **hints: object) -> bool:
        return True  # primary and replica hold the same rows

    def allow_migrate(self, alias: str, app_label: str, **hints: object) -> bool:
        return alias == DEFAULT_DB_ALIAS


class ReplicaClock:
    """Measure for this process how old the replica is, by log positions: the clocks of other machines do not matter.

    Once the replica has replayed the position that the primary had at some moment, it shows all that was committed
    until then.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # Positions of the primary that the replica has not replayed yet, each with the time at which it was read.
        self._positions: deque[tuple[float, Decimal]] = deque(maxlen=MAX_POSITIONS)
        self._current_at: float | None = None
        self._next_check_at = 0.0

    def measure_age(self) -> float | None:
        """Return how many seconds old the replica is at most; None while that is unknown or the replica is away.

        One thread measures; the others go on with the last measurement.
        """
        if self._clock() >= self._next_check_at and self._lock.acquire(blocking=False):
            try:
                self._check()
            finally:
                self._lock.release()
        current_at = self._current_at
        return None if current_at is None else self._clock() - current_at

    def avoid(self) -> None:
        """Do not use the replica for AWAY_SECONDS after a failure, then connect again."""
        connections[REPLICA_ALIAS].close()
        self._current_at = None
        self._next_check_at = self._clock() + AWAY_SECONDS

    def _check(self) -> None:
        now = self._clock()
        self._next_check_at = now + CHECK_SECONDS
        try:
            self._positions.append((now, read_primary_position()))
            replayed_position = read_replayed_position()
        except Error:
            replayed_position = None
        if replayed_position is None:
            self.avoid()
            return
        while self._positions and self._positions[0][1] <= replayed_position:
            self._current_at = self._positions.popleft()[0]


def read_primary_position() -> Decimal:
    """Return how far the primary has written its log."""
    return Decimal(_query_value(DEFAULT_DB_ALIAS, PRIMARY_POSITION))


def read_replayed_position() -> Decimal | None:
    """Return how far the replica has replayed the primary's log; None if it is not a replica."""
    value = _query_value(REPLICA_ALIAS, REPLICA_POSITION)
    return None if value is None else Decimal(value)


def _query_value(alias: str, statement: str) -> Any:
    with connections[alias].cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


replica_clock = ReplicaClock()
