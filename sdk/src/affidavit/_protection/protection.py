"""The facts of a request in, a verdict out: what the Django, WSGI and ASGI adapters share (contract 3)."""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from affidavit._intents.intent import Intent
from affidavit._intents.stores import StoreUnavailable
from affidavit._intents.verifier import IntentRejected, IntentVerifier
from affidavit._paths.routes import make_sendable, name_operation

from .idempotency import Claim, Delivery, DeliveryStore, Leases, StoredResponse, fingerprint
from .responses import not_kept, rejected, standing, store_away
from .verification_reports import ACCEPTED, VerificationReports

T = TypeVar("T")

MAX_BODY = 4 * 1024 * 1024
MAX_KEPT = 1024 * 1024
QUIET_FOR = 10
"""Seconds between two lines in the log that say the same."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_TRY_AGAIN = frozenset({408, 425, 429})
# These belong to one connection or one moment; and a kept cookie would be a stored credential.
_NOT_KEPT = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "date", "server", "set-cookie"}
)

log = logging.getLogger("affidavit.protection")


def nothing_exempt(method: str, path: str) -> bool:
    """Every request needs an intent."""
    return False


def no_route() -> str | None:
    """The framework's route is not known."""
    return None


@dataclass(frozen=True, slots=True)
class Demands:
    """What one route asks for itself; the meaning of both stands in `IntentVerifier.verify`."""

    minimum_version: int | None = None
    operation: str | None = None

    def unmet_by(self, intent: Intent) -> str | None:
        """The reason why an intent that was verified without these demands does not meet them."""
        if intent.version < (self.minimum_version or intent.version):
            return "unsupported-version"
        # Version 1 binds no declared operation, here as in `verify`.
        bound = intent.version > 1 and self.operation is not None
        return "operation-mismatch" if bound and self.operation != intent.operation else None


NO_DEMANDS = Demands()


@dataclass(slots=True)
class Call:
    """The facts of a request; what is not said here stands in `IntentVerifier.verify`.

    route: the framework's path template, mount prefix included, asked for when the call is reported.
    """

    header: str | None
    method: str
    path: str
    query: str
    body: bytes
    content_type: str | None
    raw_path: str | None = None
    request: Any = None
    route: Callable[[], str | None] = no_route


class Protection:
    """What protects an app: a verifier, the store that makes retries harmless, the reports to the hub.

    deliveries: keeps responses by toolCallId; None if the app keeps its own. reports: None reports nothing.
    exempt: is given method and decoded path, and says which requests need no intent; a middleware asks it.
    max_body: bytes of a request that are read at most, else 413. max_kept: bytes of a response that are kept
    for a retry. now: the clock of the deliveries, in Unix seconds. Safe to share by threads, and across fork.
    """

    def __init__(
        self,
        verifier: IntentVerifier,
        deliveries: DeliveryStore | None,
        *,
        reports: VerificationReports | None = None,
        exempt: Callable[[str, str], bool] = nothing_exempt,
        max_body: int = MAX_BODY,
        max_kept: int = MAX_KEPT,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.verifier = verifier
        self.exempt = exempt
        self.max_body = max_body
        self.max_kept = max_kept
        self._deliveries = deliveries
        self._leases = None if deliveries is None else Leases(deliveries)
        self._reports = reports
        self._now = now
        self._quiet_until = 0.0

    def admit(self, call: Call, demands: Demands = NO_DEMANDS) -> "Admission | StoredResponse":
        """Leave to run the call, to be settled when it has run; or the answer to give in its place."""
        try:
            intent = self.verifier.verify(
                call.header, call.method, call.path, call.query, call.body, call.content_type,
                operation=demands.operation, minimum_version=demands.minimum_version,
                request=call.request, raw_path=call.raw_path,
            )  # fmt: skip
            delivery = self._claimed(intent)
        except IntentRejected as rejection:
            self._report(rejection.reason, rejection.intent, call, demands)
            return rejected(rejection)
        except StoreUnavailable as fault:
            self._complain(fault)
            return store_away()
        if delivery is None or isinstance(delivery, Claim):
            report = partial(self._report, intent=intent, call=call, demands=demands)
            return Admission(intent, self._running(delivery), report, safe=call.method in SAFE_METHODS)
        self._report(ACCEPTED, intent, call, demands)
        return standing(delivery)

    def _claimed(self, intent: Intent) -> Delivery | None:
        if self._deliveries is None:
            return None
        return self._deliveries.claim(intent.workspace, intent.tool_call_id, fingerprint(intent), now=self._now())

    def _complain(self, fault: StoreUnavailable) -> None:
        """One line in a while: an outage must not fill the log."""
        if self._now() >= self._quiet_until:
            self._quiet_until = self._now() + QUIET_FOR
            log.error("calls are answered 503: %s", fault)

    def _running(self, claim: Claim | None) -> "_Running | None":
        if claim is None or self._deliveries is None or self._leases is None:
            return None
        return _Running(self._deliveries, self._leases, claim, self._now)

    def _report(self, result: str, intent: Intent | None, call: Call, demands: Demands) -> None:
        if self._reports is None:
            return
        if demands.operation is not None:
            operation = make_sendable(demands.operation)
        else:
            operation = name_operation(call.method.upper(), call.route() or call.path)
        version, tool_call_id = (intent.version, intent.tool_call_id) if intent else (None, None)
        self._reports.add(result, version=version, operation=operation, tool_call_id=tool_call_id)


class _Running:
    """A claim that is held while the call runs."""

    __slots__ = ("_claim", "_leases", "_now", "_store")

    def __init__(self, store: DeliveryStore, leases: Leases, claim: Claim, now: Callable[[], float]) -> None:
        self._store = store
        self._leases = leases
        self._claim = claim
        self._now = now
        leases.hold(claim)

    def finish(self, response: StoredResponse) -> None:
        kept = self._settled(lambda: self._store.finish(self._claim, response, now=self._now()))
        if kept is False:
            log.warning("a response was not kept: its lease ran out, and another delivery may have run the call")

    def abandon(self) -> None:
        self._settled(lambda: self._store.abandon(self._claim))

    def _settled(self, step: Callable[[], T]) -> T | None:
        """The call has run whatever the store says now: its answer is given; in the store the lease runs out."""
        try:
            return step()
        except StoreUnavailable as fault:
            log.error("a retry of a call that has run may run it again: %s", fault)
            return None
        finally:
            self._leases.release(self._claim)


def intent_of(admission: "Admission | None") -> Intent:
    """The intent of the request at work. Raises LookupError where none was admitted."""
    if admission is None:
        raise LookupError("no intent was verified for this request: is its view protected?")
    return admission.intent


class Admission:
    """Leave to run a call. Settle it: `finish` when there is a response, `abandon` when the handler raised.

    What is settled stays so; a second time changes nothing.
    """

    __slots__ = ("_report", "_running", "_safe", "intent")

    def __init__(self, intent: Intent, running: _Running | None, report: Callable[[str], None], *, safe: bool) -> None:
        self.intent = intent
        self._running = running
        self._report: Callable[[str], None] | None = report
        self._safe = safe

    @property
    def is_settled(self) -> bool:
        """Whether it was finished, abandoned or refused."""
        return self._report is None

    def finish(self, status: int, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None) -> None:
        """The call has run. body: None when it streams or is too large, so that it cannot be kept.

        A response that says to try again (5xx, 408, 425, 429) is not kept: a retry runs. Nor is one without
        body: a retry of a reading call runs again, of any other it is told that the call has run.
        """
        running = self._settle()
        if running is None:
            return
        if status >= 500 or status in _TRY_AGAIN or (body is None and self._safe):
            running.abandon()
        elif body is None:
            running.finish(not_kept())
        else:
            kept = [(name, value) for name, value in headers if name.lower() not in _NOT_KEPT]
            running.finish(StoredResponse(status, tuple(kept), body))

    def abandon(self) -> None:
        """The handler raised: what it did, if anything, is taken for undone, and a retry may run at once."""
        if running := self._settle():
            running.abandon()

    def refusal(self, demands: Demands) -> StoredResponse | None:
        """The answer of a view that asks for more than what was verified before it was known; None to go on."""
        reason = demands.unmet_by(self.intent)
        if reason is None:
            return None
        if running := self._settle(reason):
            running.abandon()
        return rejected(IntentRejected(reason, intent=self.intent))

    def _settle(self, result: str = ACCEPTED) -> _Running | None:
        report, self._report = self._report, None  # let go: it knows the request, which knows this admission
        if report is None:
            return None
        report(result)
        return self._running
