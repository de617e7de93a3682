"""The store of deliveries in the memory of one process (contract 3)."""

import itertools
import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass

from affidavit._intents.stores import PRUNED_AT_ONCE, PRUNED_EVERY, OneProcess, StoreUnavailable, store_key

from .idempotency import LEASE, RETENTION, Claim, Delivery, Finished, NotKept, StoredResponse, resolve_known_call

_WARNED_AT = 0.8
"""The share of a limit at which the store warns."""

_log = logging.getLogger("affidavit.protection")


@dataclass(slots=True)
class _Record:
    """One call. Times are Unix seconds."""

    fingerprint: str
    owner: str
    lease_until: float
    keep_until: float
    is_finished: bool = False

    def is_in_flight(self, now: float) -> bool:
        return not self.is_finished and self.lease_until >= now


class MemoryDeliveries:
    """A store for one process, like `MemoryNonces`. It keeps `limit` calls and `max_bytes` of their responses.

    Beyond `max_bytes` it forgets the oldest responses: a retry of such a call gets 409 `response-not-kept`. Beyond
    `limit` it forgets the oldest finished calls, so a retry of one runs again; never a call in flight. The logger
    `affidavit.protection` warns once when either limit is reached by 80 %, and once when the first call is forgotten.
    """

    is_in_memory = True

    def __init__(
        self, *, limit: int = 50_000, max_bytes: int = 64 * 1024 * 1024, several_workers: bool = False
    ) -> None:
        self._limit = limit
        self._max_bytes = max_bytes
        self._process = OneProcess(several_workers)
        self._lock = threading.Lock()
        self._records: OrderedDict[str, _Record] = OrderedDict()  # in the order in which they expire
        self._responses: OrderedDict[str, StoredResponse] = OrderedDict()  # the oldest first
        self._bytes = 0
        self._claims = itertools.count(1)
        self._has_warned = self._has_forgotten = False

    def claim(self, workspace: str, tool_call_id: str, fingerprint: str, *, now: float) -> Delivery:
        """See DeliveryStore."""
        key = store_key(workspace, tool_call_id)
        self._process.check()
        with self._lock:
            number = next(self._claims)
            if not number % PRUNED_EVERY:
                self._process.check_again()
            self._forget_expired(now)
            record = self._records.get(key)
            if record is None:
                return self._add_record(Claim(key, str(number)), fingerprint, now)
            if record.fingerprint == fingerprint and not record.is_finished and record.lease_until < now:
                del self._records[key]
                return self._add_record(Claim(key, str(number)), fingerprint, now)
            state = self._describe_state(key, record)
            return resolve_known_call(record.fingerprint, fingerprint, state, record.lease_until, now)

    def renew(self, claim: Claim, *, now: float) -> bool:
        """See DeliveryStore."""
        with self._lock:
            record = self._find_running(claim)
            if record:
                record.lease_until = now + LEASE
            return record is not None

    def finish(self, claim: Claim, response: StoredResponse, *, now: float) -> bool:
        """See DeliveryStore."""
        with self._lock:
            record = self._find_running(claim)
            if record:
                record.is_finished = True
                record.keep_until = now + RETENTION
                self._records.move_to_end(claim.key)
                self._responses[claim.key] = response
                self._bytes += response.size
                self._drop_responses()
                self._warn_when_nearly_full()
            return record is not None

    def abandon(self, claim: Claim) -> None:
        """See DeliveryStore."""
        with self._lock:
            if self._find_running(claim):
                del self._records[claim.key]

    def _describe_state(self, key: str, record: _Record) -> Finished | NotKept | None:
        if not record.is_finished:
            return None
        response = self._responses.get(key)
        return NotKept() if response is None else Finished(response)

    def _add_record(self, claim: Claim, fingerprint: str, now: float) -> Claim:
        if len(self._records) >= self._limit:
            self._forget_oldest_call(now)
        self._records[claim.key] = _Record(fingerprint, claim.owner, now + LEASE, now + RETENTION)
        self._warn_when_nearly_full()
        return claim

    def _find_running(self, claim: Claim) -> _Record | None:
        record = self._records.get(claim.key)
        return record if record and record.owner == claim.owner and not record.is_finished else None

    def _forget_expired(self, now: float) -> None:
        for _ in range(PRUNED_AT_ONCE):
            key = next(iter(self._records), None)
            if key is None or self._records[key].keep_until >= now or self._records[key].is_in_flight(now):
                return
            self._forget(key)

    def _forget_oldest_call(self, now: float) -> None:
        key = next((key for key, record in self._records.items() if not record.is_in_flight(now)), None)
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
        del self._records[key]
        response = self._responses.pop(key, None)
        self._bytes -= response.size if response else 0

    def _drop_responses(self) -> None:
        while self._bytes > self._max_bytes:
            _, response = self._responses.popitem(last=False)
            self._bytes -= response.size

    def _warn_when_nearly_full(self) -> None:
        is_nearly_full = len(self._records) >= _WARNED_AT * self._limit or self._bytes >= _WARNED_AT * self._max_bytes
        if is_nearly_full and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "the store of deliveries in memory is 80 %% full (%d of %d calls, %d of %d bytes of responses). When "
                "full it forgets the oldest responses (a retry gets 409 response-not-kept), then the oldest finished "
                "calls (a retry runs again). Use SqliteDeliveries, the SQL or the Redis store, or higher limits.",
                len(self._records), self._limit, self._bytes, self._max_bytes,
            )  # fmt: skip
