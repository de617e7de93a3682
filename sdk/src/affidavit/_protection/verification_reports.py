"""Verification reports: how the checks of this process ended, told to the hub in the background (contract 3)."""

import json
import logging
import threading
import time
import uuid
from collections.abc import Iterator
from typing import NamedTuple

from affidavit._hub.api_keys import KEY_HEADER, require_secret_key
from affidavit._hub.background import EXIT_PATIENCE, Background, register_lifecycle
from affidavit._hub.outbox import Outbox, Parcel
from affidavit._hub.transport import DEFAULT_BASE_URL, DEFAULT_TIMEOUT, HttpTransport, Retry, Transport

PATH = "/api/verification-reports"
ACCEPTED = "accepted"
MAX_ITEMS = 500
MAX_TOOL_CALL_ID = 255
QUARTER = 900
"""Seconds of the hub's tallies: what is summed up here never spans two of them."""

log = logging.getLogger("affidavit.reports")


class _Item(NamedTuple):
    """Verifications that are told as one."""

    result: str
    version: int | None
    operation: str
    tool_call_id: str | None
    quarter: int


class _Sum:
    __slots__ = ("count", "last_at")

    def __init__(self) -> None:
        self.count = 0
        self.last_at = 0.0


class VerificationReports:
    """Sums up verifications and reports them every few seconds. `add` never raises and never waits.

    api_key: a secret key (`gak_…`) with the scope `report`. environment: `production` when None. every: seconds
    between two reports. limit: how many different items are held; beyond it, counts stay right and only their
    operation, version and toolCallId are left out. transport: used in place of `base_url` and `timeout`.

    One daemon thread per process, started when first needed, again after a fork; what is left is sent when the
    process ends. While the hub is away, counts are kept and sent later. Only what the hub refuses for good, or
    what is left when the process ends without it, is lost: `dropped` counts it, and the logger
    `affidavit.reports` says so. Raises ReportError for a key that cannot be right.
    """

    def __init__(
        self,
        api_key: str | None,
        *,
        environment: str | None = None,
        base_url: str = DEFAULT_BASE_URL,
        every: float = 5.0,
        limit: int = 5_000,
        timeout: float = DEFAULT_TIMEOUT,
        transport: Transport | None = None,
    ) -> None:
        self._headers = {KEY_HEADER: require_secret_key(api_key)}
        self._environment = environment
        self._transport = transport or HttpTransport(base_url, timeout, retry=Retry(attempts=2, total=timeout))
        self._limit = limit
        self._background = Background("affidavit-reports", self._send, lambda: every)
        self._reset()
        register_lifecycle(self, reset=VerificationReports._reset, close=VerificationReports.close)

    def _reset(self) -> None:
        """Nothing held, nothing running; also in a forked child, where what is held is the parent's to send."""
        self.dropped = 0
        self._pending: dict[_Item, _Sum] = {}
        self._outbox = Outbox(self._post, self._drop)
        self._lock = threading.Lock()
        self._background.reset()

    def add(
        self,
        result: str,
        *,
        version: int | None = None,
        operation: str = "",
        tool_call_id: str | None = None,
        at: float | None = None,
    ) -> None:
        """One verification. result: `accepted` or a reason. operation: a template, at most 255 code points.

        tool_call_id: told of rejections only; accepted ones are counts. at: Unix seconds, now if None.
        """
        moment = time.time() if at is None else at
        named = tool_call_id if result != ACCEPTED and len(tool_call_id or "") <= MAX_TOOL_CALL_ID else None
        item = _Item(result, version, operation, named or None, int(moment // QUARTER))
        with self._lock:
            sum_ = self._sum_of(item)
            if sum_ is None:
                self.dropped += 1
                return
            sum_.count += 1
            sum_.last_at = max(sum_.last_at, moment)
        self._background.start()

    def flush(self, timeout: float = 10.0) -> bool:
        """Sends what is held now. False when some of it could not be delivered within `timeout` seconds."""
        return self._background.flush(timeout) and not self._held()

    def close(self, timeout: float = EXIT_PATIENCE) -> None:
        """Sends what is held and stops, within `timeout` seconds; runs by itself when the process ends."""
        self._background.end(timeout)
        with self._lock:
            pending, self._pending = self._pending, {}
        if left := _weight(pending) + self._outbox.give_up():
            self._drop(left, "the process ended before the hub took them")

    def _sum_of(self, item: _Item) -> _Sum | None:
        """None when even the sums without detail are too many: the hub has been away for months."""
        known = self._pending.get(item)
        if known is None:
            if len(self._pending) >= self._limit:
                item = _Item(item.result, None, "", None, item.quarter)
            if item not in self._pending and len(self._pending) >= 2 * self._limit:
                return None
            known = self._pending.setdefault(item, _Sum())
        return known

    def _send(self) -> None:
        self._outbox.send(self._packed)

    def _packed(self) -> Iterator[Parcel]:
        """What is summed up, as reports."""
        with self._lock:
            taken, self._pending = self._pending, {}
        items = list(taken.items())
        for start in range(0, len(items), MAX_ITEMS):
            yield self._report(items[start : start + MAX_ITEMS])

    def _report(self, items: list[tuple[_Item, _Sum]]) -> Parcel:
        target = {} if self._environment is None else {"environment": self._environment}
        told = [_told(item, sum_) for item, sum_ in items]
        document = {**target, "reportId": str(uuid.uuid4()), "verifications": told}
        body = json.dumps(document, separators=(",", ":")).encode("ascii")
        return Parcel(body, sum(sum_.count for _, sum_ in items))

    def _post(self, parcel: Parcel) -> None:
        self._transport.post_json(PATH, parcel.body, self._headers)

    def _held(self) -> int:
        with self._lock:
            return _weight(self._pending) + self._outbox.weight

    def _drop(self, count: int, cause: object) -> None:
        with self._lock:
            self.dropped += count
        log.warning("%d verifications were not reported: %s", count, cause)


def _weight(pending: dict[_Item, _Sum]) -> int:
    return sum(sum_.count for sum_ in pending.values())


def _told(item: _Item, sum_: _Sum) -> dict[str, object]:
    told: dict[str, object] = {"result": item.result, "count": sum_.count, "occurredAt": int(sum_.last_at)}
    if item.version is not None:
        told["version"] = item.version
    if item.operation:
        told["operation"] = item.operation
    if item.tool_call_id is not None:
        told["toolCallId"] = item.tool_call_id
    return told
