"""Stores of used nonces, so that an intent passes once (contract §3, "Nonce").

Every store is atomic and never accepts a nonce that it cannot look up. It keeps a nonce until 5 minutes after the
intent's expiresAt, because clocks differ.
"""

import heapq
import itertools
import math
import os
import threading
from collections.abc import Callable
from secrets import token_hex
from typing import Any, Protocol

from affidavit._errors import StoreUnavailable
from affidavit._stores.in_memory import OneProcess
from affidavit._stores.pruning_pace import PRUNED_AT_ONCE, PRUNED_EVERY
from affidavit._stores.redis_calls import RedisCalls
from affidavit._stores.sql import Database, run_unfailing
from affidavit._stores.sqlite_file import open_file
from affidavit._stores.store_keys import memory_key, store_key

KEPT_AFTER_EXPIRY = 300
"""Seconds that a nonce is kept after its intent has expired."""


class NonceStore(Protocol):
    """Any store of used nonces. Both methods raise StoreUnavailable when the store cannot be reached."""

    def burn(self, workspace: str, nonce: str, expires_at: float, *, now: float) -> bool:
        """Return True for exactly one caller per (workspace, nonce), by one atomic step. Times are Unix seconds."""

    def is_burnt(self, workspace: str, nonce: str) -> bool:
        """Return whether the nonce was used, and change nothing."""


class MemoryNonces:
    """Used nonces in the memory of one process: safe for its threads, bounded, forgotten when the process ends.

    The store refuses to work as one of several workers (see `OneProcess`) unless several_workers is True. With `limit`
    nonces, about 200 bytes each, it is full and raises StoreUnavailable.
    """

    is_in_memory = True

    def __init__(self, *, limit: int = 500_000, several_workers: bool = False) -> None:
        self._limit = limit
        self._process = OneProcess(several_workers)
        self._lock = threading.Lock()
        self._burns = itertools.count(1)
        self._burnt: set[str] = set()
        # Keys grouped by the second until which they are kept. A tuple for each key would burden the garbage collector.
        self._keys_by_end: dict[int, list[str]] = {}
        self._ends: list[int] = []  # a heap

    def burn(self, workspace: str, nonce: str, expires_at: float, *, now: float) -> bool:
        """See NonceStore."""
        key = memory_key(workspace, nonce)
        self._process.check()
        with self._lock:
            if not next(self._burns) % PRUNED_EVERY:
                self._process.check_again()
            self._forget(now)
            if key in self._burnt:
                return False
            if len(self._burnt) >= self._limit:
                raise StoreUnavailable("the store of used nonces is full; use the SQL or the Redis store")
            self._burnt.add(key)
            end = math.ceil(expires_at) + KEPT_AFTER_EXPIRY
            keys = self._keys_by_end.get(end)
            if keys is None:
                keys = self._keys_by_end[end] = []
                heapq.heappush(self._ends, end)
            keys.append(key)
        return True

    def is_burnt(self, workspace: str, nonce: str) -> bool:
        """See NonceStore."""
        self._process.check()
        return memory_key(workspace, nonce) in self._burnt

    def _forget(self, now: float) -> None:
        for _ in range(PRUNED_AT_ONCE):
            if not self._ends or self._ends[0] >= now:
                return
            keys = self._keys_by_end[self._ends[0]]
            self._burnt.discard(keys.pop())
            if not keys:
                del self._keys_by_end[heapq.heappop(self._ends)]


CREATE_NONCES = """
CREATE TABLE IF NOT EXISTS affidavit_nonces (
    nonce_key CHAR(64) PRIMARY KEY,
    keep_until DOUBLE PRECISION NOT NULL
)
"""
INDEX_NONCES = "CREATE INDEX IF NOT EXISTS affidavit_nonces_keep_until ON affidavit_nonces (keep_until)"
BURN = "INSERT INTO affidavit_nonces (nonce_key, keep_until) VALUES (?, ?) ON CONFLICT DO NOTHING"
IS_BURNT = "SELECT 1 FROM affidavit_nonces WHERE nonce_key = ?"
PRUNE_NONCES = """
DELETE FROM affidavit_nonces WHERE nonce_key IN (
    SELECT nonce_key FROM affidavit_nonces WHERE keep_until < ? ORDER BY keep_until, nonce_key LIMIT ?
)
"""


class SqlNonces:
    """Used nonces in the table `affidavit_nonces` of a DB-API database that knows ON CONFLICT: SQLite 3.24, PostgreSQL.

    connect and paramstyle: see `Database`.

    Call `create_table` once, where you run migrations. Each burn is a transaction of its own: a later rollback in the
    request does not undo it.
    """

    def __init__(self, connect: Callable[[], Any], *, paramstyle: str | None = None) -> None:
        self._database: Database = Database(connect, paramstyle)
        self._burns = itertools.count(1)

    def create_table(self) -> None:
        """Make the table and its index if they are not there."""
        self._database.run(lambda execute: execute(CREATE_NONCES))
        self._database.run(lambda execute: execute(INDEX_NONCES))

    def burn(self, workspace: str, nonce: str, expires_at: float, *, now: float) -> bool:
        """See NonceStore."""
        row = store_key(workspace, nonce), expires_at + KEPT_AFTER_EXPIRY
        fresh = self._database.run(lambda execute: execute(BURN, *row).rowcount) == 1
        if not next(self._burns) % PRUNED_EVERY:
            run_unfailing(lambda: self.prune(now=now))
        return fresh

    def is_burnt(self, workspace: str, nonce: str) -> bool:
        """See NonceStore."""
        key = store_key(workspace, nonce)
        return self._database.run(lambda execute: execute(IS_BURNT, key).fetchone()) is not None

    def prune(self, *, now: float) -> int:
        """Delete at most 500 nonces that are no longer needed; return how many. Every 250th burn calls this itself."""
        return self._database.run(lambda execute: execute(PRUNE_NONCES, now, PRUNED_AT_ONCE).rowcount)


class SqliteNonces(SqlNonces):
    """SqlNonces in a SQLite file, for all processes of one machine. The table is made when the file is first used."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._database = open_file(path, (CREATE_NONCES, INDEX_NONCES))
        self._burns = itertools.count(1)


# Clients send a command again by themselves if its answer is lost. Then the nonce is there already, with the same mark.
_BURN_IN_REDIS = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2]) then return 1 end
return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0
"""


class RedisNonces:
    """Used nonces in Redis, through a client that you pass, such as `redis.Redis`. Redis itself deletes old nonces.

    With a client of `redis.asyncio`, which would have to be awaited, the store is unavailable.

    The maxmemory-policy of Redis has to be noeviction: an evicted nonce could be used again. The store looks each
    minute, and warns in the log if it is another one.
    """

    def __init__(self, client: Any, *, prefix: str = "affidavit:nonce:") -> None:
        self._redis = RedisCalls(client)
        self._prefix = prefix

    def burn(self, workspace: str, nonce: str, expires_at: float, *, now: float) -> bool:
        """See NonceStore."""
        kept_for = max(1, int(expires_at - now) + 1 + KEPT_AFTER_EXPIRY)
        key = self._prefix + store_key(workspace, nonce)
        mark = token_hex(16)
        return bool(self._redis.ask(lambda client: client.eval(_BURN_IN_REDIS, 1, key, mark, kept_for)))

    def is_burnt(self, workspace: str, nonce: str) -> bool:
        """See NonceStore."""
        return bool(self._redis.ask(lambda client: client.exists(self._prefix + store_key(workspace, nonce))))
