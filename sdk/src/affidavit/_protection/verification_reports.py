"""Verification reports: the results of this process's checks, sent to the hub in the background (contract §3)."""

import json
import logging
import re
import threading
import time
import uuid
from collections.abc import Iterator
from typing import NamedTuple

from affidavit._hub.api_keys import KEY_HEADER, require_secret_key
from affidavit._hub.availability_log import Availability
from affidavit._hub.background import Background
from affidavit._hub.environments import require_environment
from affidavit._hub.outbox import Outbox, Parcel
from affidavit._hub.process_end import notice_fork, register_reporter
from affidavit._hub.report_times import bound_moment
from affidavit._hub.reporter import EXIT_PATIENCE, Reporter
from affidavit._hub.responses import bad_answer
from affidavit._hub.retries import Retry
from affidavit._hub.transport import DEFAULT_TIMEOUT, HttpTransport, Transport
from affidavit._intents.reasons import REASONS
from affidavit._paths.reported_operations import COMMON_METHODS, MAX_UNCOMMON, make_sendable

_PATH = "/api/verification-reports"
ACCEPTED = "accepted"
_MAX_ITEMS = 500
_VERSIONS = (1, 2)
_SENDABLE_ID = re.compile("[^\0\ud800-\udfff]{1,255}")
_SECRET_PREFIX = re.compile(r"gas_[0-9A-Za-z_-]{4}")
_QUARTER = 900
"""Seconds of one time bucket of the hub's tallies. A report entry never spans two buckets."""

_log = logging.getLogger("affidavit.reports")


class _Verification(NamedTuple):
    """The members in which the verifications of one report entry agree.

    quarter: quarters of an hour since 1970.
    """

    result: str
    version: int | None
    operation: str
    tool_call_id: str | None
    quarter: int
    secret: str = ""


class _Tally:
    """The number of verifications, and the Unix time of the last one."""

    __slots__ = ("count", "last_at")

    def __init__(self) -> None:
        self.count = 0
        self.last_at = 0.0


class VerificationReports(Reporter):
    """Sum up verifications and report them every few seconds. `add` never raises and never waits.

    api_key: a secret key (`gak_…`) with the scope `report`.
    environment: None for the environment that the variable AFFIDAVIT_ENVIRONMENT names, or for `production` without it.
    every: seconds between two reports.
    limit: how many different entries are kept. Beyond it, counts stay right, but lose operation, version, toolCallId
        and secret. Beyond twice as many, verifications are lost.
    transport: used in place of `base_url` and `timeout`.

    One daemon thread per process starts when it is first needed, and again after a fork. It sends the rest when the
    process ends. While the hub cannot be reached, or something else answers in its place, counts are kept and sent
    later. Verifications that the hub refuses for their content, or does not take before the process ends, are lost.
    `dropped` counts the lost ones. The logger `affidavit.reports` warns in each of these cases. Raises ReportError for
    an invalid key or address, or an empty environment.
    """

    _noun, _logger = "verification", _log

    def __init__(
        self,
        api_key: str | None = None,
        *,
        environment: str | None = None,
        base_url: str | None = None,
        every: float = 5.0,
        limit: int = 5_000,
        timeout: float = DEFAULT_TIMEOUT,
        transport: Transport | None = None,
    ) -> None:
        self._headers = {KEY_HEADER: require_secret_key(api_key)}
        self._environment = require_environment(environment)
        self._transport = transport or HttpTransport(base_url, timeout, retry=Retry(attempts=2, total=timeout))
        self._limit = limit
        self._background = Background("affidavit-reports", self._send, lambda: every)
        self._reset()
        register_reporter(self)

    def _reset(self) -> None:
        """Start with nothing pending. A forked child does so too, because the parent sends what was pending."""
        self.dropped = self._verification_count = 0
        self._pending: dict[_Verification, _Tally] = {}
        self._uncommon_operations: set[str] = set()  # those of rejections
        self._outbox = Outbox(self._post, self._drop, Availability("verifications", _log))
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
        secret: str = "",
    ) -> None:
        """Count one verification.

        result: `accepted` or a reason. Any other is logged and counted as dropped.
        operation: a template, at most 255 code points.
        tool_call_id: reported for rejections only.
        at: Unix seconds, now if None.
        secret: the signing secret that verified an accepted intent. Only its first 8 characters are reported: by them,
            the page of a rotation shows which secret is used.
        """
        try:
            notice_fork()
            with self._lock:
                self._verification_count += 1
            moment = time.time() if at is None else at
            self._count(_build_verification(result, version, operation, tool_call_id, moment, secret), moment)
        except Exception:  # reporting must not make the host fail
            with self._lock:
                self.dropped += 1
            _log.exception("a verification could not be counted")

    def _count(self, verification: _Verification, moment: float) -> None:
        self._background.start()
        with self._lock:
            tally = self._find_tally(self._bound_operations(verification))
            if tally is None:
                self.dropped += 1
                return
            tally.count += 1
            tally.last_at = max(tally.last_at, moment)

    def flush(self, timeout: float = 10.0) -> bool:
        """Send all that is pending. Return False if some of it is not delivered within `timeout` seconds."""
        return self._background.flush(timeout) and not self._count_unsent()

    def close(self, timeout: float = EXIT_PATIENCE) -> None:
        """Send all that is pending and stop, within `timeout` seconds. This runs by itself when the process ends."""
        self._background.end(timeout)
        self._outbox.give_up()
        lost_count = self._count_unsent()
        with self._lock:
            self._pending.clear()
            self.dropped += lost_count
        self._announce_loss(lost_count)

    def _hurry(self) -> None:
        if self._count_unsent():
            self._background.wake()

    def _count_unsent(self) -> int:
        """Return how many verifications were neither delivered nor lost, also while their report is being built."""
        with self._lock:
            return self._verification_count - self._outbox.delivered_weight - self.dropped

    def _bound_operations(self, verification: _Verification) -> _Verification:
        """Return the verification, without its operation if that is one too many whose method a stranger may invent.

        The hub keeps counts of each operation.
        """
        operation = verification.operation
        method, space, _ = operation.partition(" /")
        if verification.result == ACCEPTED or not space or method in COMMON_METHODS:
            return verification
        if operation not in self._uncommon_operations and len(self._uncommon_operations) >= MAX_UNCOMMON:
            return verification._replace(operation="")
        self._uncommon_operations.add(operation)
        return verification

    def _find_tally(self, verification: _Verification) -> _Tally | None:
        """Return the tally to count in; None if there is no room, as after months without a hub."""
        tally = self._pending.get(verification)
        if tally is None:
            if len(self._pending) >= self._limit:
                verification = _Verification(verification.result, None, "", None, verification.quarter)
            if verification not in self._pending and len(self._pending) >= 2 * self._limit:
                return None
            tally = self._pending.setdefault(verification, _Tally())
        return tally

    def _send(self) -> None:
        self._outbox.send(self._pack_reports)

    def _pack_reports(self) -> Iterator[Parcel]:
        """Yield all pending tallies as reports."""
        with self._lock:
            pending, self._pending = self._pending, {}
        items = list(pending.items())
        for start in range(0, len(items), _MAX_ITEMS):
            yield self._build_report(items[start : start + _MAX_ITEMS])

    def _build_report(self, items: list[tuple[_Verification, _Tally]]) -> Parcel:
        target = {} if self._environment is None else {"environment": self._environment}
        now = time.time()
        entries = [_build_entry(verification, tally, now) for verification, tally in items]
        document = {**target, "reportId": str(uuid.uuid4()), "verifications": entries}
        body = json.dumps(document, separators=(",", ":")).encode("ascii")
        return Parcel(body, sum(tally.count for _, tally in items))

    def _post(self, parcel: Parcel) -> None:
        answer = self._transport.post_json(_PATH, parcel.body, self._headers)
        if not (isinstance(answer, dict) and "recorded" in answer):
            raise bad_answer()

    def _drop(self, count: int, cause: object) -> None:
        with self._lock:
            self.dropped += count
        self._log_loss(count, cause)


def _build_verification(
    result: str, version: int | None, operation: str, tool_call_id: str | None, moment: float, secret: str
) -> _Verification:
    """Return what is reported, without facts for which the hub would refuse the whole report.

    Raises ValueError for an unknown result.
    """
    if result != ACCEPTED and result not in REASONS:
        raise ValueError("the result is neither accepted nor a reason")
    prefix = _SECRET_PREFIX.match(secret) if result == ACCEPTED else None
    return _Verification(
        result,
        version if type(version) is int and version in _VERSIONS else None,
        make_sendable(operation),
        tool_call_id if result != ACCEPTED and _SENDABLE_ID.fullmatch(tool_call_id or "") else None,
        int(moment // _QUARTER),
        prefix[0] if prefix else "",
    )


def _build_entry(verification: _Verification, tally: _Tally, now: float) -> dict[str, object]:
    occurred_at = int(bound_moment(tally.last_at, now))
    entry: dict[str, object] = {"result": verification.result, "count": tally.count, "occurredAt": occurred_at}
    if verification.version is not None:
        entry["version"] = verification.version
    if verification.operation:
        entry["operation"] = verification.operation
    if verification.tool_call_id is not None:
        entry["toolCallId"] = verification.tool_call_id
    if verification.secret:
        entry["secret"] = verification.secret
    return entry
