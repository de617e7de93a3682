"""The store of deliveries in the memory of one process (contract §3)."""

import logging
import threading
from collections import OrderedDict
from itertools import chain, count
from typing import Any

from affidavit._errors import StoreUnavailable
from affidavit._stores.in_memory import OneProcess
from affidavit._stores.pruning_pace import PRUNED_AT_ONCE, PRUNED_EVERY
from affidavit._stores.store_keys import memory_key

from .deliveries import Claim, Delivery, Finished, NotKept, StoredResponse, resolve_known_call
from .kept_responses import RETENTION
from .leases import LEASE

_WARNED_AT = 0.8
"""The share of a limit at which the store warns."""

_FlatResponse = tuple[Any, ...]
"""Status and body, then the name and the value of each header."""

_log = logging.getLogger("affidavit.protection")


class MemoryDeliveries:
    """A store for one process, like `MemoryNonces`. It keeps `limit` calls and `max_bytes` of their responses.

    Beyond `max_bytes` it forgets the oldest responses: a retry of such a call gets 409 `response-not-kept`. Beyond
    `limit` it forgets the oldest finished calls, so a retry of one runs again. It never forgets a call in flight. The
    logger `affidavit.protection` warns once at 80 % of either limit, and once when the first call is forgotten.
    """

    is_in_memory = True

    def __init__(
        self, *, limit: int = 50_000, max_bytes: int = 64 * 1024 * 1024, several_workers: bool = False
    ) -> None:
        self._limit = limit
        self._max_bytes = max_bytes
        self._process = OneProcess(several_workers)
        self._lock = threading.Lock()
        # Only text, numbers, bytes and flat tuples of them are kept for a day: the garbage collector would walk through
        # other objects again and again.
        self._fingerprints: OrderedDict[str, str] = OrderedDict()  # of all calls, in the order in which they expire
        self._keep_until: dict[str, float] = {}  # of all calls, in Unix seconds
        self._leases: dict[str, tuple[str, float]] = {}  # owner and end of the lease of each running call
        self._responses: OrderedDict[str, _FlatResponse] = OrderedDict()  # the oldest first
        self._bytes = 0
        self._claims = count(1)
        self._has_warned = self._has_forgotten = False

    def claim(self, workspace: str, tool_call_id: str, fingerprint: str, *, now: float) -> Delivery:
        """See DeliveryStore."""
        key = memory_key(workspace, tool_call_id)
        self._process.check()
        with self._lock:
            number = next(self._claims)
            if not number % PRUNED_EVERY:
                self._process.check_again()
            self._forget_expired(now)
            known_fingerprint = self._fingerprints.get(key)
            if known_fingerprint is None:
                return self._add_call(Claim(key, str(number)), fingerprint, now)
            if known_fingerprint == fingerprint and key in self._leases and not self._is_in_flight(key, now):
                self._forget(key)
                return self._add_call(Claim(key, str(number)), fingerprint, now)
            _, lease_until = self._leases.get(key, ("", 0.0))
            return resolve_known_call(known_fingerprint, fingerprint, self._describe_state(key), lease_until, now)

    def renew(self, claim: Claim, *, now: float) -> bool:
        """See DeliveryStore."""
        with self._lock:
            is_running = self._is_running(claim)
            if is_running:
                self._leases[claim.key] = claim.owner, now + LEASE
            return is_running

    def finish(self, claim: Claim, response: StoredResponse, *, now: float) -> bool:
        """See DeliveryStore."""
        with self._lock:
            is_running = self._is_running(claim)
            if is_running:
                key = claim.key
                del self._leases[key]
                self._fingerprints.move_to_end(key)
                self._keep_until[key] = now + RETENTION
                self._responses[key] = _flatten(response)
                self._bytes += response.size
                while self._bytes > self._max_bytes:
                    self._drop_oldest_response()
            return is_running

    def abandon(self, claim: Claim) -> None:
        """See DeliveryStore."""
        with self._lock:
            if self._is_running(claim):
                self._forget(claim.key)

    def _describe_state(self, key: str) -> Finished | NotKept | None:
        if key in self._leases:
            return None
        response = self._responses.get(key)
        return NotKept() if response is None else Finished(_restore(response))

    def _add_call(self, claim: Claim, fingerprint: str, now: float) -> Claim:
        if len(self._fingerprints) >= self._limit:
            self._forget_oldest_call(now)
        key = claim.key
        self._fingerprints[key] = fingerprint
        self._keep_until[key] = now + RETENTION
        self._leases[key] = claim.owner, now + LEASE
        self._warn_when_nearly_full()
        return claim

    def _is_running(self, claim: Claim) -> bool:
        """Return whether the call belongs to this claim and is not finished."""
        lease = self._leases.get(claim.key)
        return lease is not None and lease[0] == claim.owner

    def _is_in_flight(self, key: str, now: float) -> bool:
        lease = self._leases.get(key)
        return lease is not None and lease[1] >= now

    def _forget_expired(self, now: float) -> None:
        for _ in range(PRUNED_AT_ONCE):
            key = next(iter(self._fingerprints), None)
            if key is None or self._keep_until[key] >= now or self._is_in_flight(key, now):
                return
            self._forget(key)

    def _forget_oldest_call(self, now: float) -> None:
        key = next((key for key in self._fingerprints if not self._is_in_flight(key, now)), None)
        if key is None:
            raise StoreUnavailable(f"the store of deliveries is full: {self._limit} calls are in flight")
        self._forget(key)
        if not self._has_forgotten:
            self._has_forgotten = True
            _log.warning(
                "the store of deliveries in memory is full (%d calls) and forgets the oldest finished calls: a retry "
                "of one runs again. Use SqliteDeliveries, the SQL or the Redis store, or a higher limit.",
                self._limit,
            )

    def _forget(self, key: str) -> None:
        del self._fingerprints[key], self._keep_until[key]
        self._leases.pop(key, None)
        if response := self._responses.pop(key, None):
            self._bytes -= _restore(response).size

    def _drop_oldest_response(self) -> None:
        _, response = self._responses.popitem(last=False)
        self._bytes -= _restore(response).size

    def _warn_when_nearly_full(self) -> None:
        calls = len(self._fingerprints)
        is_nearly_full = calls >= _WARNED_AT * self._limit or self._bytes >= _WARNED_AT * self._max_bytes
        if is_nearly_full and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "the store of deliveries in memory is 80 %% full (%d of %d calls, %d of %d bytes of responses). When "
                "full it forgets the oldest responses (a retry gets 409 response-not-kept), then the oldest finished "
                "calls (a retry runs again). Use SqliteDeliveries, the SQL or the Redis store, or higher limits.",
                calls, self._limit, self._bytes, self._max_bytes,
            )  # fmt: skip


def _flatten(response: StoredResponse) -> _FlatResponse:
    return (response.status, response.body, *chain.from_iterable(response.headers))


def _restore(flat: _FlatResponse) -> StoredResponse:
    status, body, *texts = flat
    return StoredResponse(status, tuple(zip(texts[::2], texts[1::2], strict=True)), body)
