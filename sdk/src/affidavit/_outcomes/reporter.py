"""Reporting outcomes in the background: a bounded queue that never blocks or breaks its caller (contract 2)."""

import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from affidavit._errors import ReportError
from affidavit._hub.api_keys import KEY_HEADER, required_secret_key
from affidavit._hub.background import Background, outlast
from affidavit._hub.outbox import Outbox, Parcel
from affidavit._hub.transport import DEFAULT_BASE_URL, DEFAULT_TIMEOUT, HttpTransport, Retry, Transport

from .report import MAX_ITEMS, PATH, _body, _item, _receipt

MAX_ID, MAX_KEY = 255, 128  # code points
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds between two tries while the hub cannot be reached
HURRIED_PAUSE = 0.2  # the same while somebody waits
log = logging.getLogger("affidavit")


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """What became of everything given to one reporter in this process.

    reported = delivered + undelivered + waiting. recorded: delivered ones whose conversation is known.
    undelivered: refused by the hub, no text of a fit length, or given while the queue was full or closed.
    """

    reported: int = 0
    delivered: int = 0
    recorded: int = 0
    undelivered: int = 0
    waiting: int = 0


class OutcomeReporter:
    """Report outcomes as they happen: `reporter.report(conversation_id, "purchase")`, and go on.

    One daemon thread sends what was given, up to 500 at once, at most `flush_every` seconds later. While the hub
    cannot be reached it tries on with growing pauses, the same batch under the same Idempotency-Key, so that a retry
    never counts twice. At the end of the process it sends the rest for at most `exit_timeout` seconds. A forked
    child begins with an empty queue: what waited is the parent's to send.

    capacity: outcomes that may wait; what comes on top is counted, not kept. on_error: called in the thread with
    each ReportError that cost outcomes; without it, they are logged (logger `affidavit`). transport: used in place
    of `base_url` and `timeout`. Raises ReportError at once for a key or an address that cannot be right.
    """

    def __init__(
        self,
        api_key: str | None,
        *,
        environment: str | None = None,
        base_url: str = DEFAULT_BASE_URL,
        timeout: float = DEFAULT_TIMEOUT,
        capacity: int = 10_000,
        flush_every: float = 1.0,
        exit_timeout: float = 5.0,
        on_error: Callable[[ReportError], None] | None = None,
        transport: Transport | None = None,
    ) -> None:
        self._key = required_secret_key(api_key)
        self._environment = environment
        self._way = transport or HttpTransport(base_url, timeout, retry=Retry(attempts=2, total=timeout))
        self._capacity, self._flush_every, self._exit_timeout = capacity, flush_every, exit_timeout
        self._on_error = on_error
        self._background = Background("affidavit-outcomes", self._work, self._rest)
        self._begin_anew()
        outlast(self, begin_anew=OutcomeReporter._begin_anew, end=OutcomeReporter.close)

    def _begin_anew(self) -> None:
        """Nothing waits, nothing runs; also in a forked child, where what waits is the parent's to send."""
        self._lock = threading.Lock()
        self._queue: deque[tuple[str, str]] = deque()
        self._outbox = Outbox(self._post, self._lose)
        self._reported = self._recorded = self._undelivered = 0
        self._due = 0.0
        self._pause = FIRST_PAUSE
        self._hurried = self._closed = False
        self._background.begin_anew()

    def report(self, conversation_id: str, outcome_key: str) -> bool:
        """Take one outcome; returns at once and never raises. False where it had to be left out: see `counts`."""
        with self._lock:
            self._reported += 1
            refused = self._closed or len(self._queue) >= self._capacity or not _fits(conversation_id, outcome_key)
            if refused or not self._background.start():
                self._undelivered += 1
                return False
            self._queue.append((conversation_id, outcome_key))
            waiting = len(self._queue)
            if waiting == 1 and not self._outbox.weight:
                self._due = time.monotonic() + self._flush_every
        if waiting in (1, MAX_ITEMS):
            self._background.wake()
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Send what waits now; True once nothing waits any more, False where `timeout` seconds were not enough."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.counts.waiting:
            left = None if until is None else until - time.monotonic()
            self._hurried = True
            if (left is not None and left <= 0) or not self._background.flush(left):
                return False
            if self.counts.waiting:
                time.sleep(HURRIED_PAUSE if left is None else min(HURRIED_PAUSE, left))
        return True

    def close(self, timeout: float | None = None) -> bool:
        """Take nothing more and send the rest, within `exit_timeout` seconds unless told otherwise."""
        self._closed = True
        done = self.flush(self._exit_timeout if timeout is None else timeout)
        self._background.end(0)
        self._outbox.give_up()
        if left := self.counts.waiting:
            self._undelivered += left
            log.warning("%d outcomes could not be delivered before the end; the hub did not take them.", left)
        return done

    @property
    def counts(self) -> OutcomeCounts:
        with self._lock:
            delivered = self._outbox.delivered
            waiting = self._reported - delivered - self._undelivered
            return OutcomeCounts(self._reported, delivered, self._recorded, self._undelivered, waiting)

    def _rest(self) -> float | None:
        """Seconds until something is to be sent, a little later than it came, for company."""
        if not (self._queue or self._outbox.weight):
            return None
        return max(0.0, self._due - time.monotonic())

    def _work(self) -> None:
        """Send whole batches, and a last one that is not whole when it is due or somebody waits."""
        hurried, self._hurried = self._hurried, False
        if self._outbox.weight and not (hurried or self._is_due()):
            return
        while hurried or self._is_due() or len(self._queue) >= MAX_ITEMS:
            self._outbox.send(self._packed)
            if self._outbox.weight:
                self._due = time.monotonic() + self._pause
                self._pause = min(2 * self._pause, LONGEST_PAUSE)
                return
            self._pause, self._due = FIRST_PAUSE, time.monotonic() + self._flush_every
            if not self._queue:
                return

    def _is_due(self) -> bool:
        return time.monotonic() >= self._due

    def _packed(self) -> Iterator[Parcel]:
        """The next batch. Its Idempotency-Key makes a retry harmless."""
        with self._lock:
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), MAX_ITEMS))]
        if batch:
            items = [_item(outcome, index) for index, outcome in enumerate(batch)]
            yield Parcel(_body(items, self._environment), len(batch), str(uuid.uuid4()))

    def _post(self, parcel: Parcel) -> None:
        headers = {KEY_HEADER: self._key, "Idempotency-Key": parcel.key}
        self._recorded += _receipt(self._way.post_json(PATH, parcel.body, headers)).recorded

    def _lose(self, count: int, error: ReportError) -> None:
        with self._lock:
            self._undelivered += count
        if self._on_error is None:
            log.error("%d outcomes were not taken: %s", count, error)
            return
        try:
            self._on_error(error)
        except Exception:  # what the caller does with an error must not end the thread
            log.exception("on_error failed")


def _fits(conversation_id: object, outcome_key: object) -> bool:
    """What the hub would refuse, it would refuse with the whole batch."""
    return _is_text(conversation_id, MAX_ID) and _is_text(outcome_key, MAX_KEY)


def _is_text(value: object, longest: int) -> bool:
    if not isinstance(value, str) or not 1 <= len(value) <= longest or "\0" in value:
        return False
    return not any("\ud800" <= sign <= "\udfff" for sign in value)
