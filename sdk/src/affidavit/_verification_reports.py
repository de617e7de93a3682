"""Verification reports: how the checks of this process ended, told to the hub in the background (contract 3)."""

import atexit
import json
import logging
import os
import threading
import time
import uuid
import weakref
from collections import deque
from contextlib import suppress
from typing import NamedTuple

from ._answers import is_passing
from ._errors import HubUnreachable, ReportError
from ._keys import KEY_HEADER, required_secret_key
from ._transport import DEFAULT_BASE_URL, DEFAULT_TIMEOUT, HttpTransport, Retry, Transport

PATH = "/api/verification-reports"
ACCEPTED = "accepted"
MAX_ITEMS = 500
MAX_TOOL_CALL_ID = 255
QUARTER = 900
"""Seconds of the hub's tallies: what is summed up here never spans two of them."""
EXIT_PATIENCE = 3.0
"""Seconds that the end of the process waits for the last report."""

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


class _Report(NamedTuple):
    """One report as it goes over the wire: the same bytes on every try, so that it counts once."""

    body: bytes
    verifications: int


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
        self._headers = {KEY_HEADER: required_secret_key(api_key)}
        self._environment = environment
        self._transport = transport or HttpTransport(base_url, timeout, retry=Retry(attempts=2, total=timeout))
        self._every = every
        self._limit = limit
        self._start_anew()
        _tidy_up(self)

    def _start_anew(self) -> None:
        """Nothing held, nothing running; also in a forked child, where what is held is the parent's to send."""
        self.dropped = 0
        self._pending: dict[_Item, _Sum] = {}
        self._unsent: deque[_Report] = deque()
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

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
            if self._thread is None and not self._stopped.is_set():
                self._start()

    def flush(self, timeout: float = 10.0) -> bool:
        """Sends what is held, in this thread. False when some of it could not be delivered."""
        if not self._sending.acquire(timeout=timeout):
            return False
        try:
            self._send()
        finally:
            self._sending.release()
        return not self._held()

    def close(self, timeout: float = EXIT_PATIENCE) -> None:
        """Sends what is held and stops, within `timeout` seconds; runs by itself when the process ends."""
        self._stopped.set()
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
        elif self._held():
            self.flush(timeout)
        if left := self._held():
            self._pending, self._unsent = {}, deque()
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

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="affidavit-reports", daemon=True)
        with suppress(RuntimeError):  # no thread to be had: the next one to add, or the end, tries again
            thread.start()
            self._thread = thread

    def _run(self) -> None:
        stopped = self._stopped
        while not stopped.wait(self._every):
            self.flush()
        self.flush()

    def _send(self) -> None:
        """In order; what the hub cannot take now stays for the next time."""
        while self._unsent or self._take():
            report = self._unsent[0]
            try:
                self._transport.post_json(PATH, report.body, self._headers)
            except ReportError as failure:
                if isinstance(failure, HubUnreachable) or is_passing(failure):
                    return
                self._drop(report.verifications, str(failure))
            except Exception as failure:  # a transport of the host's own; its faults must not end this thread
                self._drop(report.verifications, type(failure).__name__)
            if self._unsent:  # else given up meanwhile, see close
                self._unsent.popleft()

    def _take(self) -> bool:
        """Turns what is summed up into reports; False when there is nothing."""
        with self._lock:
            taken, self._pending = self._pending, {}
            items = list(taken.items())
            self._unsent.extend(
                self._report(items[start : start + MAX_ITEMS]) for start in range(0, len(items), MAX_ITEMS)
            )
        return bool(items)

    def _report(self, items: list[tuple[_Item, _Sum]]) -> _Report:
        target = {} if self._environment is None else {"environment": self._environment}
        told = [_told(item, sum_) for item, sum_ in items]
        document = {**target, "reportId": str(uuid.uuid4()), "verifications": told}
        body = json.dumps(document, separators=(",", ":")).encode("ascii")
        return _Report(body, sum(sum_.count for _, sum_ in items))

    def _held(self) -> int:
        with self._lock:
            pending = sum(sum_.count for sum_ in self._pending.values())
            return pending + sum(report.verifications for report in tuple(self._unsent))

    def _drop(self, count: int, cause: str) -> None:
        with self._lock:
            self.dropped += count
        log.warning("%d verifications were not reported: %s", count, cause)


def _told(item: _Item, sum_: _Sum) -> dict[str, object]:
    told: dict[str, object] = {"result": item.result, "count": sum_.count, "occurredAt": int(sum_.last_at)}
    if item.version is not None:
        told["version"] = item.version
    if item.operation:
        told["operation"] = item.operation
    if item.tool_call_id is not None:
        told["toolCallId"] = item.tool_call_id
    return told


def _tidy_up(reports: VerificationReports) -> None:
    """Starts anew after a fork and sends at exit, without keeping a reporter alive that nobody holds."""
    known = weakref.ref(reports)

    def start_anew() -> None:
        if (alive := known()) is not None:
            alive._start_anew()

    def close() -> None:
        if (alive := known()) is not None:
            alive.close()

    os.register_at_fork(after_in_child=start_anew)
    atexit.register(close)
