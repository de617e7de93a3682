"""The witness: observe live requests and responses, and report their shapes to the hub (contract §4)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from affidavit._async_arguments import refuse_async
from affidavit._errors import ReportError
from affidavit._hub.api_keys import require_secret_key
from affidavit._hub.availability_log import Availability
from affidavit._hub.background import Background
from affidavit._hub.environments import require_environment
from affidavit._hub.outbox import Outbox, Parcel
from affidavit._hub.process_end import notice_fork, register_reporter
from affidavit._hub.report_times import bound_moment
from affidavit._hub.reporter import EXIT_PATIENCE, Reporter
from affidavit._hub.retries import Retry
from affidavit._hub.transport import DEFAULT_TIMEOUT, HttpTransport, ReadingTransport
from affidavit._paths.routes import build_route_template, clean_path
from affidavit._shapes.media_types import drop_parameters
from affidavit._shapes.redaction import DEFAULT, Redactor

from .aggregator import Aggregator
from .bodies import BODILESS, MAX_BODY, CopiedBody, select_body
from .hub_rules import apply_rules, fetch_rules
from .intake import MAX_OPERATIONS, Intake, OperationKey, find_key
from .observations import METHOD, UNSENDABLE, find_media_types
from .schedule import INTERVAL, Schedule
from .witness_reports import build_reports, deliver_report

_BATCH = 0.1
"""Seconds in which bodies are queued, to be inspected together."""
_REPORTER = "affidavit-python"
_MAX_REPORTER = 200  # code points
_USUAL_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})

_log = logging.getLogger("affidavit.witness")


def _require_reporter(name: str) -> str:
    """Return the name of a program. Raises ReportError for a name with which the hub would refuse each report."""
    if isinstance(name, str) and len(name) <= _MAX_REPORTER and not UNSENDABLE.search(name):
        return name
    detail = f"The reporter is the name of this program: a text of at most {_MAX_REPORTER} characters, without NUL."
    raise ReportError(detail, code="invalid-request")


@dataclass(frozen=True, slots=True)
class WitnessStats:
    """The number of requests that one witness observed in this process, by their fate.

    observed = delivered + waiting + dropped + ignored.

    held_back: the requests among `waiting` whose path may hold a value.
    dropped: requests that came too late, could not be understood, had no room even for a count, were refused by the
        hub, or were undelivered when the process ended.
    ignored: requests without a route that were answered with 404, 405 or 501, on a path that never gave another answer;
        and requests with an invalid method, path or status.
    unlooked: requests counted without inspecting their bodies, because the shape no longer changes, or because enough
        bodies wait, for instance while the hub is away.
    bodies_left_out: bodies without a shape, by reason; their requests are counted.
    """

    observed: int = 0
    delivered: int = 0
    waiting: int = 0
    held_back: int = 0
    dropped: int = 0
    ignored: int = 0
    unlooked: int = 0
    bodies_left_out: Mapping[str, int] = field(default_factory=dict)


class Witness(Reporter):
    """Report the shapes of an app's requests and responses, never a value. Call `observe`, or use a middleware.

    `observe` never raises and never waits: one daemon thread, started by the first request and again after a fork,
    infers shapes and sends them. It reports within `interval` seconds, and within a few seconds when an operation with
    a route is new or has a new shape. It reports once more when the process ends, which takes at most 3 seconds. While
    the hub cannot be reached, reports are kept and sent later.

    api_key: a secret key with the scope `report`.
    environment: None for the environment that the variable AFFIDAVIT_ENVIRONMENT names, or for `production` without it.
    redactor: how values and names are redacted; the hub's rules are added, and nothing is sent before they are known,
        unless `rules` is False.
    reporter: the name of this program in the hub, at most 200 characters.
    exempt: a function that is called with method and decoded path. It returns True for requests that are not observed.
    max_body: the limit in bytes; larger bodies get no shape.
    max_operations: how many operations are kept: so many with a route, and as many without one. Requests of further
        operations are dropped.
    send_undecided: whether to report paths even if some of their segments may be values; these stay as they are.
    transport: used in place of `base_url` and `timeout`.

    Raises ReportError for an invalid key, address or reporter, or an empty environment, and ValueError for an `exempt`
    that is async.
    """

    _noun, _logger = "request", _log

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        environment: str | None = None,
        redactor: Redactor = DEFAULT,
        rules: bool = True,
        reporter: str = _REPORTER,
        exempt: Callable[[str, str], bool] | None = None,
        max_body: int = MAX_BODY,
        max_operations: int = MAX_OPERATIONS,
        interval: float = INTERVAL,
        send_undecided: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
        transport: ReadingTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        refuse_async("exempt", exempt)
        self._key = require_secret_key(api_key)
        self._channel = transport or HttpTransport(base_url, timeout, retry=Retry(attempts=2, total=timeout))
        self._environment, self._reporter = require_environment(environment), _require_reporter(reporter)
        self._own_redactor, self._redactor = redactor, None if rules else redactor
        self._exempt, self.max_body, self._max_operations = exempt, max_body, max_operations
        self._interval, self._send_undecided = interval, send_undecided
        self._clock, self._now = clock, now
        self._background = Background("affidavit-witness", self._work, self._pause, delay=_BATCH)
        self._reset()
        register_reporter(self)

    def _reset(self) -> None:
        """Start with nothing observed. A forked child does so too, because the parent reports its own requests."""
        self._intake = Intake(self._max_operations)
        self._availability = Availability("shapes", _log)
        self._outbox = Outbox(self._post, self._count_loss, self._availability)
        self._schedule = Schedule(self._interval)
        self._aggregator: Aggregator | None = None
        self._is_hurried = False
        self._warnings: set[str] = set()
        self._background.reset()

    def observe(
        self,
        method: str,
        path: str,
        status: int,
        *,
        route: str | None = None,
        query: str = "",
        request_body: CopiedBody = None,
        request_content_type: str | None = None,
        request_encoding: str | None = None,
        response_body: CopiedBody = None,
        response_content_type: str | None = None,
        response_encoding: str | None = None,
        at: float | None = None,
    ) -> None:
        """Observe one request and its response. This method never raises and never waits.

        path: the raw path, percent-encoded, with its mount prefix.
        route: the framework's route, such as `/orders/<int:pk>`, `/orders/{pk}` or a regular expression with named
            groups, prefix included. Without a route, or with a more complex one, the template is learned.
        query: the query as in the request line.
        at: Unix seconds.

        Bodies are passed as sent. Their types and encodings are the values of `Content-Type` and `Content-Encoding`.
        """
        try:
            if self._is_exempt(method, path):
                return
            notice_fork()
            moment = self._now() if at is None else bound_moment(at, self._now())
            if self._background.is_ending:
                self._intake.refuse()
                return
            if method not in _USUAL_METHODS:
                method = method.upper()
                if not METHOD.fullmatch(method):
                    self._intake.ignore()
                    return
            if not 200 <= status <= 599:
                self._intake.ignore()
                return
            if method == "HEAD" or status in BODILESS:
                response_body = None
            request = select_body(request_body, request_content_type, request_encoding, self.max_body, forms=True)
            response = select_body(response_body, response_content_type, response_encoding, self.max_body)
            was_empty = self._intake.take(
                method, path, status, build_route_template(route) if route else None,
                moment=moment, now=self._clock(), query=query, request=request, response=response,
                media_types=find_media_types(
                    status,
                    drop_parameters(request_content_type) if request else None,
                    drop_parameters(response_content_type) if response else None,
                ),
            )  # fmt: skip
            self._background.start()
            if was_empty:
                self._background.wake()
        except Exception as fault:  # observing must not make the request fail
            self._intake.refuse()
            self._warn_once("a request could not be observed: %s", type(fault).__name__)

    def settles(
        self,
        method: str,
        path: Callable[[], str],
        status: int,
        route: str | None,
        *,
        request_content_type: str | None = None,
        response_content_type: str | None = None,
    ) -> bool:
        """Return whether a request needs no `observe`: it is exempt, or its shape is known and it was counted just now.

        Adapters call this method before they copy a body, because most requests need no copy.

        path: a function that returns the path.

        A content type is None if there is no body. This method never raises.
        """
        try:
            if self._exempt is not None and self._is_exempt(method, path()):
                return True
            key = find_key(method, status, route, request_content_type, response_content_type)
            return key is not None and self.count_settled(key)
        except Exception:  # `observe` will say what is wrong
            return False

    @property
    def has_exemptions(self) -> bool:
        """Return whether `exempt` must be asked about each request."""
        return self._exempt is not None

    def count_settled(self, key: OperationKey) -> bool:
        """Count a request of this operation unless it has to be inspected. Return whether it was counted.

        This does not look for a fork that Python did not see. `observe` does, and has to come first: a process that
        forks so, as that of uWSGI, serves no requests itself, so its children have no settled operation.
        """
        if self._background.is_ending:
            return False
        was_empty = self._intake.count_settled(key, moment=self._now(), now=self._clock())
        if was_empty:
            self._background.wake()
        return was_empty is not None

    def _is_exempt(self, method: str, path: str) -> bool:
        """Return whether a request is not observed: its path may be routed as another one, which is exempt."""
        if self._exempt is None:
            return False
        decoded_path = unquote(path, errors="surrogateescape")
        routed_path = clean_path(decoded_path)
        is_exempt = self._exempt(method, decoded_path)
        return bool(is_exempt or (routed_path != decoded_path and self._exempt(method, routed_path)))

    def flush(self, timeout: float = 10.0) -> bool:
        """Report now. Return False if something that may be reported is not delivered within `timeout` seconds."""
        self._is_hurried = True
        in_time = self._background.flush(timeout)
        stats = self.stats
        return in_time and stats.waiting == stats.held_back

    def close(self, timeout: float = EXIT_PATIENCE) -> None:
        """Report what is pending and stop, within `timeout` seconds. This runs by itself when the process ends."""
        self._background.end(timeout)
        self._outbox.give_up()
        stats = self.stats
        self._intake.drop(stats.waiting)
        if stats.held_back:
            self._log_loss(stats.held_back, "a path may hold values", logging.INFO)
        self._announce_loss(stats.waiting - stats.held_back)

    def _hurry(self) -> None:
        if self._count_unsent():
            self._is_hurried = True
            self._background.wake()

    def _count_unsent(self) -> int:
        stats = self.stats
        return stats.waiting - stats.held_back

    @property
    def stats(self) -> WitnessStats:
        """Return the counts of all requests so far."""
        intake, delivered_count = self._intake, self._outbox.delivered_weight
        pending = max(0, intake.request_count - delivered_count - intake.dropped_count - intake.ignored_count)
        return WitnessStats(
            observed=intake.request_count,
            delivered=delivered_count,
            waiting=pending,
            held_back=min(pending, self._aggregator.held_back) if self._aggregator else 0,
            dropped=intake.dropped_count,
            ignored=intake.ignored_count,
            unlooked=intake.uninspected_count,
            bodies_left_out={reason.value: count for reason, count in sorted(intake.left_out.items(), key=str)},
        )

    def _pause(self) -> float | None:
        return self._schedule.pause(self._clock())

    def _work(self) -> None:
        try:
            self._run_round()
        except Exception as fault:  # the thread must go on; its unfinished work is counted as waiting
            self._warn_once("a report could not be made: %s", type(fault).__name__)

    def _run_round(self) -> None:
        """Fetch the hub's rules, inspect queued bodies, and report if due."""
        is_hurried, self._is_hurried = self._is_hurried or self._background.is_ending, False
        schedule, now = self._schedule, self._clock()
        if not self._intake.is_empty:
            schedule.note_pending(now)
        aggregator = self._prepare_aggregator(is_hurried, now)
        if aggregator is None:
            return
        aggregator.inspect_queue()
        if aggregator.has_news or self._intake.has_new_operation:
            schedule.note_news(now)
        if self._intake.is_filling_up and not self._outbox.weight:
            schedule.note_crowding(now)
        if is_hurried or schedule.is_due(now):
            schedule.note_report(now)
            self._outbox.send(lambda: self._pack_reports(aggregator))
            schedule.note_sent(self._clock())
            if self._outbox.weight:
                schedule.retry_later(self._clock())

    def _prepare_aggregator(self, is_hurried: bool, now: float) -> Aggregator | None:
        """Return the aggregator; None until the hub's rules are known, since they may hide what would be sent."""
        if self._aggregator is None and (self._redactor or self._load_rules(is_hurried, now)):
            self._aggregator = Aggregator(
                self._intake, self._redactor or self._own_redactor, max_body=self.max_body,
                max_operations=self._max_operations, send_undecided=self._send_undecided,
            )  # fmt: skip
        return self._aggregator

    def _load_rules(self, is_hurried: bool, now: float) -> bool:
        if self._intake.is_empty or not (is_hurried or self._schedule.may_fetch_rules(now)):
            return False
        try:
            self._redactor = apply_rules(self._own_redactor, fetch_rules(self._channel, self._key, self._environment))
        except Exception as fault:  # the host's own transport may raise anything; the thread must go on
            reason = str(fault) if isinstance(fault, ReportError) else type(fault).__name__
            self._availability.note_failure(f"its redaction rules come first (rules=False ignores them). {reason}")
            self._schedule.fetch_rules_later(self._clock())
            return False
        self._schedule.note_rules()
        self._availability.note_answer()
        return True

    def _post(self, parcel: Parcel) -> None:
        deliver_report(self._channel, self._key, parcel.body)

    def _pack_reports(self, aggregator: Aggregator) -> Iterator[Parcel]:
        entries = aggregator.collect(self._now()).entries()
        for report in build_reports(entries, environment=self._environment, reporter=self._reporter):
            yield Parcel(report.body, report.observations)

    def _count_loss(self, count: int, reason: ReportError) -> None:
        self._intake.drop(count)
        self._log_loss(count, reason)

    def _warn_once(self, message: str, reason: str) -> None:
        """Log each message once, because the same failure repeats for many requests."""
        if message not in self._warnings:
            self._warnings.add(message)
            _log.warning(message, reason)
