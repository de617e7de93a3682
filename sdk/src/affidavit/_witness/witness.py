"""A live reporter: sees requests and responses as they pass, and tells the hub their shapes (contract 4)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from affidavit._errors import ReportError
from affidavit._hub.api_keys import require_secret_key
from affidavit._hub.background import EXIT_PATIENCE, Background, register_lifecycle
from affidavit._hub.outbox import Outbox, Parcel
from affidavit._hub.transport import DEFAULT_BASE_URL, DEFAULT_TIMEOUT, HttpTransport, ReadingTransport, Retry
from affidavit._paths.routes import build_route_template
from affidavit._shapes.redaction import DEFAULT, Redactor

from .aggregator import Digest
from .bodies import BODILESS, Copied, raw
from .delivery import deliver, reports
from .hub_rules import asked_rules, ruled
from .intake import Intake
from .observations import EARLIEST, METHOD, SECONDS_A_DAY
from .schedule import Schedule

MAX_BODY = 256 * 1024
MAX_OPERATIONS = 2_000
REPORTER = "affidavit-python"

log = logging.getLogger("affidavit.witness")


@dataclass(frozen=True, slots=True)
class WitnessStats:
    """What became of every request that one witness saw in this process.

    observed = delivered + waiting + dropped + ignored. held_back: those of `waiting` whose path may hold a value.
    dropped: no room for a count, refused by the hub, or not taken when the process ended. ignored: 404, 405 and 501
    where nothing else was ever answered, and what can be no operation. unlooked: counted without a look at their
    bodies, because the shape has settled. bodies_left_out: by reason; their requests are counted too.
    """

    observed: int = 0
    delivered: int = 0
    waiting: int = 0
    held_back: int = 0
    dropped: int = 0
    ignored: int = 0
    unlooked: int = 0
    bodies_left_out: Mapping[str, int] = field(default_factory=dict)


class Witness:
    """Tells the hub the shapes of what an app answers, never a value: `observe`, or a middleware, and go on.

    `observe` never raises and never waits: one daemon thread, begun with the first request and again after a fork,
    infers and sends. A report goes every `interval` seconds at most, within a few seconds when a shape or an operation
    is new; what is left goes when the process ends, which waits 3 seconds at most. A hub that is away gets it later.

    api_key: a secret key with the scope `report`. environment: `production` when None. redactor: what becomes of values
    and names; the rules that are set in the hub come on top, and nothing is sent before they are known, unless `rules`
    is False. reporter: names this program to the hub. exempt: is given method and path, and says what is not to be
    seen. max_body: bytes; the shape of a larger one is not taken. max_operations: that are told apart. send_undecided:
    report paths with segments that may be values, as they stand. transport: used in place of `base_url` and `timeout`.
    Raises ReportError for a key or an address that cannot be right.
    """

    def __init__(
        self,
        api_key: str | None,
        *,
        base_url: str = DEFAULT_BASE_URL,
        environment: str | None = None,
        redactor: Redactor = DEFAULT,
        rules: bool = True,
        reporter: str = REPORTER,
        exempt: Callable[[str, str], bool] | None = None,
        max_body: int = MAX_BODY,
        max_operations: int = MAX_OPERATIONS,
        interval: float = 60.0,
        send_undecided: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
        transport: ReadingTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._key = require_secret_key(api_key)
        self._way = transport or HttpTransport(base_url, timeout, retry=Retry(attempts=2, total=timeout))
        self._environment, self._reporter = environment, reporter
        self._own_redactor, self._redactor = redactor, None if rules else redactor
        self._exempt, self.max_body, self._max_operations = exempt, max_body, max_operations
        self._interval, self._send_undecided = interval, send_undecided
        self._clock, self._now = clock, now
        self._background = Background("affidavit-witness", self._work, self._pause)
        self._reset()
        register_lifecycle(self, reset=Witness._reset, close=Witness.close)

    def _reset(self) -> None:
        """Nothing seen, nothing running; also in a forked child, where what was seen is the parent's to tell."""
        self._intake = Intake(self._max_operations)
        self._outbox = Outbox(lambda parcel: deliver(self._way, self._key, parcel.body), self._lose)
        self._schedule = Schedule(self._interval)
        self._digest: Digest | None = None
        self._hurried = False
        self._complaints: set[str] = set()
        self._background.reset()

    def observe(
        self,
        method: str,
        path: str,
        status: int,
        *,
        route: str | None = None,
        query: str = "",
        request_body: Copied = None,
        request_content_type: str | None = None,
        request_encoding: str | None = None,
        response_body: Copied = None,
        response_content_type: str | None = None,
        response_encoding: str | None = None,
        at: float | None = None,
    ) -> None:
        """One request and its response. Never raises and never waits.

        path: raw, percent-encoded, with its mount prefix. route: the framework's own, such as `/orders/<int:pk>`,
        `/orders/{pk}` or a regular expression with named groups, prefix included; without it, or with one that says
        more, the template is learned. query: as it stood in the request line. Bodies: bytes as they went over the
        wire; their types and encodings are the values of `Content-Type` and `Content-Encoding`. at: Unix seconds.
        """
        try:
            if self._exempt is not None and self._exempt(method, path):
                return
            method, moment = method.upper(), self._moment(at)
            if self._background.is_ending:
                self._intake.refuse()
                return
            if not (METHOD.fullmatch(method) and 200 <= status <= 599):
                self._intake.ignore()
                return
            fresh = self._intake.take(
                method, path, status, build_route_template(route) if route else None,
                at=moment, now=self._clock(), query=query,
                request=raw(request_body, request_content_type, request_encoding, self.max_body),
                response=None if method == "HEAD" or status in BODILESS
                else raw(response_body, response_content_type, response_encoding, self.max_body),
            )  # fmt: skip
            self._background.start()
            if fresh:
                self._background.wake()
        except Exception as fault:  # whatever it is, a request must not fail because it was watched
            self._intake.refuse()
            self._complain("a request could not be observed: %s", type(fault).__name__)

    def flush(self, timeout: float = 10.0) -> bool:
        """Report now. False when something that may be told could not be delivered within `timeout` seconds."""
        self._hurried = True
        in_time = self._background.flush(timeout)
        stats = self.stats
        return in_time and stats.waiting == stats.held_back

    def close(self, timeout: float = EXIT_PATIENCE) -> None:
        """Report what is left and stop, within `timeout` seconds; runs by itself when the process ends."""
        self._background.end(timeout)
        self._outbox.give_up()
        stats = self.stats
        self._intake.drop(stats.waiting)
        if stats.held_back:
            log.info("%d requests were not reported: their paths may hold values", stats.held_back)
        if lost := stats.waiting - stats.held_back:
            log.warning("%d requests were not reported: the process ended before the hub took them", lost)

    @property
    def stats(self) -> WitnessStats:
        """What became of everything so far."""
        intake, delivered = self._intake, self._outbox.delivered
        waiting = max(0, intake.taken - delivered - intake.dropped - intake.ignored)
        return WitnessStats(
            observed=intake.taken,
            delivered=delivered,
            waiting=waiting,
            held_back=min(waiting, self._digest.held_back) if self._digest else 0,
            dropped=intake.dropped,
            ignored=intake.ignored,
            unlooked=intake.unlooked,
            bodies_left_out={why.value: count for why, count in sorted(intake.left_out.items(), key=str)},
        )

    def _moment(self, at: float | None) -> float:
        now = self._now()
        return at if at is not None and EARLIEST <= at <= now + SECONDS_A_DAY else now

    def _pause(self) -> float | None:
        return self._schedule.pause(self._clock())

    def _work(self) -> None:
        try:
            self._round()
        except Exception as fault:  # the thread must live on; what it had in hand is counted as waiting
            self._complain("a report could not be made: %s", type(fault).__name__)

    def _round(self) -> None:
        """The hub's rules, the bodies that wait, and a report when one is due."""
        hurried, self._hurried = self._hurried or self._background.is_ending, False
        schedule, now = self._schedule, self._clock()
        if not self._intake.is_empty:
            schedule.something_waits(now)
        digest = self._ready(hurried, now)
        if digest is None:
            return
        digest.look()
        if digest.has_news or self._intake.has_new_operation:
            schedule.something_is_new(now)
        if hurried or schedule.is_due(now):
            schedule.reported(now)
            self._outbox.send(lambda: self._packed(digest))
            if self._outbox.weight:
                schedule.try_again(self._clock())

    def _ready(self, hurried: bool, now: float) -> Digest | None:
        """None while the hub's rules are not known: what they keep back must not be sent before."""
        if self._digest is None and (self._redactor or self._knows_rules(hurried, now)):
            self._digest = Digest(
                self._intake, self._redactor or self._own_redactor, max_body=self.max_body,
                max_operations=self._max_operations, send_undecided=self._send_undecided,
            )  # fmt: skip
        return self._digest

    def _knows_rules(self, hurried: bool, now: float) -> bool:
        if self._intake.is_empty or not (hurried or self._schedule.may_ask(now)):
            return False
        try:
            self._redactor = ruled(self._own_redactor, asked_rules(self._way, self._key, self._environment))
        except Exception as fault:  # a transport of the host's own may raise anything; the thread must live on
            why = str(fault) if isinstance(fault, ReportError) else type(fault).__name__
            self._complain("nothing is reported until the hub tells its rules, or rules=False says to: %s", why)
            self._schedule.ask_later(self._clock())
            return False
        self._schedule.asked()
        return True

    def _packed(self, digest: Digest) -> Iterator[Parcel]:
        entries = digest.report().entries()
        for report in reports(entries, environment=self._environment, reporter=self._reporter):
            yield Parcel(report.body, report.observations)

    def _lose(self, count: int, why: ReportError) -> None:
        self._intake.drop(count)
        log.warning("%d requests were not reported: %s", count, why)

    def _complain(self, message: str, why: str) -> None:
        """Once: what fails with one request fails with many."""
        if message not in self._complaints:
            self._complaints.add(message)
            log.warning(message, why)
