"""The stores of deliveries: memory, SQL, Redis. What they promise stands in `DeliveryStore` (contract 3)."""

import itertools
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from affidavit._intents.sql import Database, Execute, unfailing
from affidavit._intents.stores import PRUNED_AT_ONCE, PRUNED_EVERY, OneProcess, StoreUnavailable, store_key

from .idempotency import KEPT_FOR, LEASE, Claim, Delivery, Finished, InFlight, Mismatch, StoredResponse, new_owner


def _standing(kept: str, asked: str, response: StoredResponse | None, lease_until: float, now: float) -> Delivery:
    """How a call stands that another delivery has claimed."""
    if kept != asked:
        return Mismatch()
    if response is not None:
        return Finished(response)
    return InFlight(retry_after=max(1, math.ceil(lease_until - now)))


@dataclass(slots=True)
class _Kept:
    fingerprint: str
    owner: str
    lease_until: float
    keep_until: float
    response: StoredResponse | None = None


class MemoryDeliveries:
    """For one process, as `MemoryNonces`; full at `limit` calls or `max_bytes` of bodies."""

    def __init__(
        self, *, limit: int = 50_000, max_bytes: int = 64 * 1024 * 1024, several_workers: bool = False
    ) -> None:
        self._limit = limit
        self._max_bytes = max_bytes
        self._process = OneProcess(several_workers)
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}  # in the order in which they are forgotten
        self._bytes = 0
        self._claims = itertools.count(1)

    def claim(self, workspace: str, tool_call_id: str, fingerprint: str, *, now: float) -> Delivery:
        """See DeliveryStore."""
        key = store_key(workspace, tool_call_id)
        self._process.check()
        with self._lock:
            number = next(self._claims)
            if not number % PRUNED_EVERY:
                self._process.check_again()
            self._forget(now)
            kept = self._kept.get(key)
            if kept is None:
                return self._taken(Claim(key, str(number)), fingerprint, now)
            if kept.fingerprint == fingerprint and kept.response is None and kept.lease_until < now:
                del self._kept[key]
                return self._taken(Claim(key, str(number)), fingerprint, now)
            return _standing(kept.fingerprint, fingerprint, kept.response, kept.lease_until, now)

    def renew(self, claim: Claim, *, now: float) -> bool:
        """See DeliveryStore."""
        with self._lock:
            kept = self._held(claim)
            if kept:
                kept.lease_until = now + LEASE
            return kept is not None

    def finish(self, claim: Claim, response: StoredResponse, *, now: float) -> bool:
        """See DeliveryStore."""
        with self._lock:
            kept = self._held(claim)
            if kept:
                kept.response = response
                kept.keep_until = now + KEPT_FOR
                self._bytes += len(response.body)
                self._kept[claim.key] = self._kept.pop(claim.key)
            return kept is not None

    def abandon(self, claim: Claim) -> None:
        """See DeliveryStore."""
        with self._lock:
            if self._held(claim):
                del self._kept[claim.key]

    def _taken(self, claim: Claim, fingerprint: str, now: float) -> Claim:
        if len(self._kept) >= self._limit or self._bytes > self._max_bytes:
            raise StoreUnavailable("the store of deliveries is full; use the SQL or the Redis store")
        self._kept[claim.key] = _Kept(fingerprint, claim.owner, now + LEASE, now + KEPT_FOR)
        return claim

    def _held(self, claim: Claim) -> _Kept | None:
        kept = self._kept.get(claim.key)
        return kept if kept and kept.owner == claim.owner and kept.response is None else None

    def _forget(self, now: float) -> None:
        for _ in range(PRUNED_AT_ONCE):
            key = next(iter(self._kept), None)
            if key is None or (kept := self._kept[key]).keep_until >= now or kept.lease_until >= now:
                return
            del self._kept[key]
            self._bytes -= len(kept.response.body) if kept.response else 0


CREATE_DELIVERIES = """
CREATE TABLE IF NOT EXISTS affidavit_deliveries (
    delivery_key CHAR(64) PRIMARY KEY,
    fingerprint CHAR(64) NOT NULL,
    owner CHAR(32) NOT NULL,
    lease_until DOUBLE PRECISION NOT NULL,
    keep_until DOUBLE PRECISION NOT NULL,
    response TEXT
)
"""
INDEX_DELIVERIES = """
CREATE INDEX IF NOT EXISTS affidavit_deliveries_keep_until ON affidavit_deliveries (keep_until)
"""
CLAIM = """
INSERT INTO affidavit_deliveries (delivery_key, fingerprint, owner, lease_until, keep_until)
VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
TAKE_OVER = """
UPDATE affidavit_deliveries SET fingerprint = ?, owner = ?, lease_until = ?, keep_until = ?, response = NULL
WHERE delivery_key = ? AND lease_until < ? AND (keep_until < ? OR (response IS NULL AND fingerprint = ?))
"""
STANDING = "SELECT fingerprint, response, lease_until FROM affidavit_deliveries WHERE delivery_key = ?"
_HELD = "WHERE delivery_key = ? AND owner = ? AND response IS NULL"
RENEW = f"UPDATE affidavit_deliveries SET lease_until = ? {_HELD}"
FINISH = f"UPDATE affidavit_deliveries SET response = ?, keep_until = ? {_HELD}"
ABANDON = f"DELETE FROM affidavit_deliveries {_HELD}"
PRUNE_DELIVERIES = """
DELETE FROM affidavit_deliveries WHERE delivery_key IN (
    SELECT delivery_key FROM affidavit_deliveries WHERE keep_until < ? AND lease_until < ?
    ORDER BY keep_until, delivery_key LIMIT ?
)
"""


class SqlDeliveries:
    """In the table `affidavit_deliveries`, as `SqlNonces`; call `create_table` once, where you migrate."""

    def __init__(self, connect: Callable[[], Any], *, paramstyle: str | None = None) -> None:
        self._database = Database(connect, paramstyle)
        self._claims = itertools.count(1)

    def create_table(self) -> None:
        """Makes the table and its index if they are not there."""
        self._database.run(lambda execute: execute(CREATE_DELIVERIES))
        self._database.run(lambda execute: execute(INDEX_DELIVERIES))

    def claim(self, workspace: str, tool_call_id: str, fingerprint: str, *, now: float) -> Delivery:
        """See DeliveryStore."""
        claim = Claim(store_key(workspace, tool_call_id), new_owner())

        def attempt(execute: Execute) -> Delivery | None:
            values = fingerprint, claim.owner, now + LEASE, now + KEPT_FOR
            if execute(CLAIM, claim.key, *values).rowcount == 1:
                return claim
            if execute(TAKE_OVER, *values, claim.key, now, now, fingerprint).rowcount == 1:
                return claim
            row = execute(STANDING, claim.key).fetchone()
            if row is None:
                return None
            response = StoredResponse.from_text(row[1]) if row[1] is not None else None
            return _standing(row[0], fingerprint, response, row[2], now)

        standing = self._database.run(attempt) or self._database.run(attempt)  # None: given up in between
        if not next(self._claims) % PRUNED_EVERY:
            unfailing(lambda: self.prune(now=now))
        return standing or InFlight(retry_after=1)

    def renew(self, claim: Claim, *, now: float) -> bool:
        """See DeliveryStore."""
        return self._changed(RENEW, now + LEASE, claim.key, claim.owner)

    def finish(self, claim: Claim, response: StoredResponse, *, now: float) -> bool:
        """See DeliveryStore."""
        return self._changed(FINISH, response.to_text(), now + KEPT_FOR, claim.key, claim.owner)

    def abandon(self, claim: Claim) -> None:
        """See DeliveryStore."""
        self._changed(ABANDON, claim.key, claim.owner)

    def prune(self, *, now: float) -> int:
        """How many deliveries past their time were deleted, at most 500. Runs by itself every 250 claims."""
        limits = now, now, PRUNED_AT_ONCE
        return self._database.run(lambda execute: execute(PRUNE_DELIVERIES, *limits).rowcount)

    def _changed(self, sql: str, *parameters: object) -> bool:
        return self._database.run(lambda execute: execute(sql, *parameters).rowcount) == 1


# KEYS: the delivery. Redis runs each script as one atomic step.
REDIS_CLAIM = """
local kept = redis.call('HMGET', KEYS[1], 'fingerprint', 'response', 'lease')
if not kept[1] or (kept[1] == ARGV[1] and not kept[2] and tonumber(kept[3]) < tonumber(ARGV[3])) then
    redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'owner', ARGV[2], 'lease', ARGV[4])
    redis.call('EXPIRE', KEYS[1], ARGV[5])
    return {}
end
return {kept[1], kept[2] or '', kept[3]}
"""
REDIS_IF_HELD = """
local kept = redis.call('HMGET', KEYS[1], 'owner', 'response')
if kept[1] ~= ARGV[1] or kept[2] then return 0 end
"""
REDIS_RENEW = f"{REDIS_IF_HELD} redis.call('HSET', KEYS[1], 'lease', ARGV[2]) return 1"
REDIS_FINISH = f"""{REDIS_IF_HELD}
redis.call('HSET', KEYS[1], 'response', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""
REDIS_ABANDON = f"{REDIS_IF_HELD} redis.call('DEL', KEYS[1]) return 1"


class RedisDeliveries:
    """In Redis, through a client object that you pass, as `RedisNonces`."""

    def __init__(self, client: Any, *, prefix: str = "affidavit:delivery:") -> None:
        self._client = client
        self._prefix = prefix

    def claim(self, workspace: str, tool_call_id: str, fingerprint: str, *, now: float) -> Delivery:
        """See DeliveryStore."""
        claim = Claim(store_key(workspace, tool_call_id), new_owner())
        lease = repr(now), repr(now + LEASE)
        standing = self._run(REDIS_CLAIM, claim, fingerprint, claim.owner, *lease, KEPT_FOR)
        if not standing:
            return claim
        kept, response, lease_until = (_text(part) for part in standing)
        stored = StoredResponse.from_text(response) if response else None
        return _standing(kept, fingerprint, stored, float(lease_until), now)

    def renew(self, claim: Claim, *, now: float) -> bool:
        """See DeliveryStore."""
        return bool(self._run(REDIS_RENEW, claim, claim.owner, repr(now + LEASE)))

    def finish(self, claim: Claim, response: StoredResponse, *, now: float) -> bool:
        """See DeliveryStore."""
        return bool(self._run(REDIS_FINISH, claim, claim.owner, response.to_text(), KEPT_FOR))

    def abandon(self, claim: Claim) -> None:
        """See DeliveryStore."""
        self._run(REDIS_ABANDON, claim, claim.owner)

    def _run(self, script: str, claim: Claim, *arguments: object) -> Any:
        try:
            return self._client.eval(script, 1, self._prefix + claim.key, *arguments)
        except Exception as failure:  # the client's own classes are not known here; none may pass
            raise StoreUnavailable("the Redis of the store cannot be reached or written to") from failure


def _text(part: bytes | str) -> str:
    """What the client gives back, decoded or not by its own settings."""
    return part.decode("utf-8") if isinstance(part, bytes) else part
