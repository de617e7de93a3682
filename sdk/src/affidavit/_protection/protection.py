"""Admit or refuse a request by its facts: the part that all adapters share (contract §3)."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from affidavit._async_arguments import refuse_async
from affidavit._errors import StoreUnavailable
from affidavit._intents.intent import Intent, require_known_version
from affidavit._intents.verifier import IntentRejected, IntentVerifier
from affidavit._paths.reported_operations import make_sendable, name_operation
from affidavit._paths.routes import clean_path
from affidavit._stores.in_memory import is_in_memory

from .deliveries import Claim, Delivery, DeliveryStore, StoredResponse, compute_fingerprint
from .kept_responses import MAX_KEPT, SAFE_METHODS, asks_for_retry, keep_response
from .leases import LEASE, Leases
from .problem_responses import answer_known_call, answer_rejection, answer_response_not_kept, answer_store_outage
from .store_outage_log import StoreOutageLog
from .unkept_responses import UnkeptResponses, log_lost_claim
from .verification_reports import ACCEPTED, VerificationReports

MaxBody = int | Callable[[str, str], int]
_MAX_BODY = 4 * 1024 * 1024
MAX_HASHED_IN_LOOP = 64 * 1024  # bytes of a body that an event loop hashes itself: a thread would cost more


def _exempt_nothing(method: str, path: str) -> bool:
    """Return False: every request needs an intent."""
    return False


def find_no_route() -> str | None:
    """Return None: the framework's route is unknown."""
    return None


@dataclass(frozen=True, slots=True)
class Demands:
    """The demands of one route on its intents. `IntentVerifier.verify` explains both members.

    Raises ValueError for a minimum version other than 1 and 2.
    """

    minimum_version: int | None = None
    operation: str | None = None

    def __post_init__(self) -> None:
        require_known_version(self.minimum_version)

    def unmet_by(self, intent: Intent) -> str | None:
        """Return the reason to reject an intent that was verified without these demands; None if it meets them."""
        if intent.version < (self.minimum_version or intent.version):
            return "unsupported-version"
        # Version 1 binds no declared operation, here as in `verify`.
        binds_operation = intent.version > 1 and self.operation is not None
        return "operation-mismatch" if binds_operation and self.operation != intent.operation else None


NO_DEMANDS = Demands()


@dataclass(slots=True)
class Call:
    """The facts of a request. `IntentVerifier.verify` explains the other members.

    route: a callable that returns the framework's path template with the mount prefix, None if the template is unknown.
        It is called when the call is reported. Without a template the report names no operation, because a raw path
        holds values.
    """

    header: str | None
    method: str
    path: str
    query: str
    body: bytes
    content_type: str | None
    raw_path: str | None = None
    request: Any = None
    route: Callable[[], str | None] = find_no_route
    content_encoding: str | None = None


class Protection:
    """Protect an app with a verifier, a store that makes retries harmless, and reports to the hub.

    deliveries: the store that keeps responses by toolCallId; None if the app does this itself.
    reports: where verifications are reported; None to report nothing.
    exempt: a function that a middleware calls with method and decoded path. It returns True for requests that need no
        intent. For a path that a framework may route as another one, it is called with both, and has to return True for
        both.
    max_body: the most bytes of a request body (a larger body is answered 413), or a function that returns this number
        for a method and a decoded path.
    max_kept: the most bytes of a response that is kept for retries.
    now: the clock of the deliveries, in Unix seconds.

    A protection is safe to share between threads and across fork.
    Raises ValueError for an `exempt` that is async.

    is_in_memory: whether verifying and settling never wait for anything outside this process. Then an event loop may do
        both without a thread.
    """

    def __init__(
        self,
        verifier: IntentVerifier,
        deliveries: DeliveryStore | None,
        *,
        reports: VerificationReports | None = None,
        exempt: Callable[[str, str], bool] = _exempt_nothing,
        max_body: MaxBody = _MAX_BODY,
        max_kept: int = MAX_KEPT,
        now: Callable[[], float] = time.time,
    ) -> None:
        refuse_async("exempt", exempt)
        self.verifier = verifier
        self._exempt = exempt
        self.max_body = max_body
        self.is_in_memory = verifier.is_in_memory and (deliveries is None or is_in_memory(deliveries))
        self.max_kept = max_kept
        self._deliveries = deliveries
        self._leases = None if deliveries is None else Leases(deliveries, now=now)
        self._unkept = None if deliveries is None else UnkeptResponses(deliveries, now=now)
        self.reports = reports
        self._now = now
        self._outage_log = StoreOutageLog(now)

    def exempt(self, method: str, path: str) -> bool:
        """Return whether a request needs no intent."""
        if not self._exempt(method, path):
            return False
        routed_path = clean_path(path)
        return routed_path == path or bool(self._exempt(method, routed_path))

    def find_max_body(self, method: str, path: str) -> int:
        """Return the most bytes that the body of this request may have."""
        return self.max_body(method, path) if callable(self.max_body) else self.max_body

    def admit(self, call: Call, demands: Demands = NO_DEMANDS) -> "Admission | StoredResponse":
        """Return the admission of a call, to be settled when the call has run; or the response to send in its place."""
        try:
            intent = self.verifier.verify(
                call.header, call.method, call.path, call.query, call.body, call.content_type,
                operation=demands.operation, minimum_version=demands.minimum_version,
                request=call.request, raw_path=call.raw_path, content_encoding=call.content_encoding,
                framework_reads_body=True,
            )  # fmt: skip
            delivery = self._claim_call(intent)
        except IntentRejected as rejection:
            self._report(rejection.intent, call, demands, rejection.reason)
            return answer_rejection(rejection)
        except StoreUnavailable as fault:
            self._outage_log.note_failure(fault)
            return answer_store_outage()
        if delivery is None or isinstance(delivery, Claim):
            report = partial(self._report, intent, call, demands)
            return Admission(intent, self._start_running(delivery), report, call.method in SAFE_METHODS)
        self._report(intent, call, demands, ACCEPTED)
        return answer_known_call(delivery)

    def _claim_call(self, intent: Intent) -> Delivery | None:
        if self._deliveries is None:
            return None
        return self._deliveries.claim(
            intent.workspace, intent.tool_call_id, compute_fingerprint(intent), now=self._now()
        )

    def _start_running(self, claim: Claim | None) -> "_RunningCall | None":
        if claim is None or self._deliveries is None or self._leases is None or self._unkept is None:
            return None
        return _RunningCall(self._deliveries, self._leases, self._unkept, claim, self._now)

    def _report(self, intent: Intent | None, call: Call, demands: Demands, result: str) -> None:
        if self.reports is None:
            return
        operation = _name_operation(call, demands)
        version, tool_call_id = (intent.version, intent.tool_call_id) if intent else (None, None)
        secret = intent.signed_with if intent else ""
        self.reports.add(result, version=version, operation=operation, tool_call_id=tool_call_id, secret=secret)


def _name_operation(call: Call, demands: Demands) -> str:
    """Return the operation to report; empty without a route, because a raw path holds values."""
    if demands.operation is not None:
        return make_sendable(demands.operation)
    route = call.route()
    return "" if route is None else name_operation(call.method.upper(), route)


class _RunningCall:
    """The claim of a running call, renewed until the call is settled. If the store is away, the response is sent."""

    __slots__ = ("_claim", "_leases", "_now", "_store", "_unkept")

    def __init__(
        self, store: DeliveryStore, leases: Leases, unkept: UnkeptResponses, claim: Claim, now: Callable[[], float]
    ) -> None:
        self._store = store
        self._leases = leases
        self._unkept = unkept
        self._claim = claim
        self._now = now
        leases.hold(claim)

    def finish(self, response: StoredResponse) -> None:
        self._leases.release(self._claim)
        try:
            if not self._store.finish(self._claim, response, now=self._now()):
                log_lost_claim()
        except StoreUnavailable as fault:
            self._unkept.add(self._claim, response, fault)

    def expire(self) -> None:
        """End the lease without a response: a retry runs the call again. No other call can use the toolCallId."""
        self._leases.release(self._claim)  # before, so that no renewal undoes the end of the lease
        with suppress(StoreUnavailable):  # then the lease ends by itself
            self._store.renew(self._claim, now=-LEASE)

    def abandon(self) -> None:
        self._leases.release(self._claim)
        with suppress(StoreUnavailable):  # then a retry runs when the lease has ended
            self._store.abandon(self._claim)


def require_intent(admission: "Admission | None") -> Intent:
    """Return the intent of the current request. Raises LookupError if none was admitted."""
    if admission is None:
        raise LookupError(
            "no intent was verified for this request: is its view protected? No intent covers a WebSocket"
        )
    return admission.intent


class Admission:
    """The permission to run a call. Settle it: `finish` with the response, `abandon` if the handler raised.

    Settling a second time changes nothing.
    """

    __slots__ = ("_report", "_running", "_safe", "intent")

    def __init__(self, intent: Intent, running: _RunningCall | None, report: Callable[[str], None], safe: bool) -> None:
        self.intent = intent
        self._running = running
        self._report: Callable[[str], None] | None = report
        self._safe = safe

    @property
    def is_settled(self) -> bool:
        """Return whether the call was finished, abandoned or refused."""
        return self._report is None

    @property
    def keeps_response(self) -> bool:
        """Return whether `finish` uses the response. If not, no body need be passed, and `finish` never waits."""
        return self._running is not None

    @property
    def runs_once(self) -> bool:
        """Return whether a retry gets the response of this call, and does not run it again."""
        return self._running is not None and not self._safe

    def finish(self, status: int, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None) -> None:
        """Settle with the response.

        body: None if it streams or is too large to be kept.

        Three kinds of responses are not kept. If the response asks for a retry (5xx, 408, 425, 429) or the method is
        safe (GET, HEAD, OPTIONS), a retry runs the call again. If any other response has no `body`, a retry gets 409,
        because the call has run.
        """
        running = self._settle()
        if running is None:
            return
        if asks_for_retry(status):
            running.abandon()
        elif self._safe:
            running.expire()
        elif body is None:
            running.finish(answer_response_not_kept())
        else:
            running.finish(keep_response(status, headers, body))

    def abandon(self) -> None:
        """Settle a call whose handler raised: a retry may run at once."""
        if running := self._settle():
            running.abandon()

    def refusal(self, demands: Demands) -> StoredResponse | None:
        """Check demands that were not known when the intent was verified. Return the refusal; None if they are met."""
        reason = demands.unmet_by(self.intent)
        if reason is None:
            return None
        if running := self._settle(reason):
            running.abandon()
        return answer_rejection(IntentRejected(reason, intent=self.intent))

    def _settle(self, result: str = ACCEPTED) -> _RunningCall | None:
        report, self._report = self._report, None  # breaks a reference cycle: report -> request -> this admission
        if report is None:
            return None
        report(result)
        return self._running
