"""Report outcomes in the background, through a bounded queue that never blocks its caller or raises (contract §2)."""

import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from affidavit._errors import ReportError
from affidavit._hub.api_keys import KEY_HEADER, require_secret_key
from affidavit._hub.availability_log import Availability
from affidavit._hub.background import Background
from affidavit._hub.environments import require_environment
from affidavit._hub.outbox import Outbox, Parcel
from affidavit._hub.process_end import notice_fork, register_reporter
from affidavit._hub.reporter import Reporter
from affidavit._hub.retries import Retry
from affidavit._hub.transport import DEFAULT_TIMEOUT, HttpTransport, Transport

from .report import MAX_OUTCOMES, OUTCOMES_PATH, build_item, encode_body, read_receipt

MAX_ID_LENGTH, MAX_KEY_LENGTH = 255, 128  # code points
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds between retries while the hub is away
_FLUSH_PAUSE = 0.2  # the same during `flush`
_WARN_EVERY = 60.0  # seconds between two warnings that outcomes are discarded for the same reason
_log = logging.getLogger("affidavit")


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """The number of outcomes that one reporter took in this process, by their fate.

    reported = delivered + undelivered + waiting.

    recorded: the delivered outcomes whose conversation is known.
    undelivered: outcomes that were refused by the hub, not text of a valid length, reported while the queue was full or
        closed, or not sent before it was closed.
    """

    reported: int = 0
    delivered: int = 0
    recorded: int = 0
    undelivered: int = 0
    waiting: int = 0


class OutcomeReporter(Reporter):
    """Report outcomes as they happen: `reporter.report(conversation_id, "purchase")`, and go on.

    One daemon thread sends the queued outcomes after at most `flush_every` seconds, up to 500 in one request. While the
    hub cannot be reached, or something else answers in its place, the thread retries with growing pauses. It sends the
    same batch under the same Idempotency-Key, so that a retry never counts twice. The logger `affidavit` warns once
    when retries begin, and once when the hub takes outcomes again. At the end of the process, the reporter takes at
    most `exit_timeout` seconds to send the rest. A forked child starts with an empty queue: the parent sends its own.

    environment: None for the environment that the variable AFFIDAVIT_ENVIRONMENT names, or for `production` without it.
    capacity: how many outcomes may be queued. Further ones are counted and discarded, as are invalid ones, with at most
        one warning a minute of each reason.
    on_error: called in the thread with a ReportError each time that outcomes are lost, mostly because the hub refused
        their content. Without `on_error` these errors are logged.
    transport: used in place of `base_url` and `timeout`.

    Raises ReportError at once for an invalid key or address, or an empty environment.
    """

    _noun, _logger = "outcome", _log

    def __init__(
        self,
        api_key: str | None = None,
        *,
        environment: str | None = None,
        base_url: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        capacity: int = 10_000,
        flush_every: float = 1.0,
        exit_timeout: float = 5.0,
        on_error: Callable[[ReportError], None] | None = None,
        transport: Transport | None = None,
    ) -> None:
        self._key = require_secret_key(api_key)
        self._environment = require_environment(environment)
        self._channel = transport or HttpTransport(base_url, timeout, retry=Retry(attempts=2, total=timeout))
        self._capacity, self._flush_every, self.exit_timeout = capacity, flush_every, exit_timeout
        self._on_error = on_error
        self._background = Background("affidavit-outcomes", self._work, self._compute_pause)
        self._reset()
        register_reporter(self)

    def _reset(self) -> None:
        """Start with an empty queue. A forked child does so too, because the parent sends its own queue."""
        self._lock = threading.Lock()
        self._queue: deque[tuple[str, str]] = deque()
        self._outbox = Outbox(self._post, self._count_loss, Availability("outcomes", _log))
        self._report_count = self._recorded_count = self._loss_count = 0
        self._due = 0.0
        self._next_warnings: dict[str, float] = {}  # by reason
        self._pause = _FIRST_PAUSE
        self._is_hurried = self._is_closed = False
        self._background.reset()

    def report(self, conversation_id: str, outcome_key: str) -> bool:
        """Queue one outcome; return at once, never raise. Return False if it was discarded: see `counts`."""
        try:
            notice_fork()
            # Before the lock is taken: under gevent, starting a thread lets other greenlets run. If the system has no
            # thread left now, the next report tries again, and at the latest `close` sends the queue.
            self._background.start()
            with self._lock:
                self._report_count += 1
                fault = self._find_fault(conversation_id, outcome_key)
                if fault is None:
                    self._queue.append((conversation_id, outcome_key))
                else:
                    self._loss_count += 1
                queue_length = len(self._queue)
                if queue_length == 1 and not self._outbox.weight:
                    self._due = time.monotonic() + self._flush_every
            if fault is not None:
                self._warn_of_loss(fault)
                return False
            if queue_length in (1, MAX_OUTCOMES):
                self._background.wake()
        except Exception:  # reporting must not make the host fail
            _log.exception("an outcome could not be queued")
            return False
        return True

    def _find_fault(self, conversation_id: object, outcome_key: object) -> str | None:
        """Return why the outcome is discarded, None if it can be queued.

        The hub would refuse the whole batch of an outcome that is not two texts of a valid length.
        """
        if self._is_closed:
            return "outcomes are discarded: the reporter is closed"
        if len(self._queue) >= self._capacity:
            return f"the queue of {self._capacity} outcomes is full: more are discarded until the hub takes some"
        if not is_valid_text(conversation_id, MAX_ID_LENGTH):
            return f"outcomes are discarded: a conversation id is not text of 1 to {MAX_ID_LENGTH} characters"
        if not is_valid_text(outcome_key, MAX_KEY_LENGTH):
            return f"outcomes are discarded: an outcome key is not text of 1 to {MAX_KEY_LENGTH} characters"
        return None

    def _warn_of_loss(self, reason: str) -> None:
        if time.monotonic() >= self._next_warnings.get(reason, 0.0):
            self._next_warnings[reason] = time.monotonic() + _WARN_EVERY
            _log.warning(reason)

    def flush(self, timeout: float | None = None) -> bool:
        """Send the queue now. Return True once it is empty, False if it is not empty after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.counts.waiting:
            remaining = None if deadline is None else deadline - time.monotonic()
            self._is_hurried = True
            if (remaining is not None and remaining <= 0) or not self._background.flush(remaining):
                return False
            if self.counts.waiting:
                time.sleep(_FLUSH_PAUSE if remaining is None else min(_FLUSH_PAUSE, remaining))
        return True

    def close(self, timeout: float | None = None) -> bool:
        """Accept no more and send the queue within `timeout` seconds, by default `exit_timeout`.

        Return whether the queue was empty in time. Outcomes that are left then are counted as undelivered.
        """
        self._is_closed = True
        is_empty = self.flush(self.exit_timeout if timeout is None else timeout)
        self._background.end(0)
        self._outbox.give_up()
        remaining = self.counts.waiting
        with self._lock:
            self._loss_count += remaining
            self._queue.clear()  # else the thread would never see the queue empty, and never end
        self._announce_loss(remaining)
        return is_empty

    def _hurry(self) -> None:
        if self.counts.waiting:
            self._is_hurried = True
            self._background.wake()

    def _count_unsent(self) -> int:
        return self.counts.waiting

    @property
    def counts(self) -> OutcomeCounts:
        """Return the counts of all outcomes so far."""
        with self._lock:
            delivered_count = self._outbox.delivered_weight
            unsent_count = self._report_count - delivered_count - self._loss_count
            return OutcomeCounts(
                reported=self._report_count,
                delivered=delivered_count,
                recorded=self._recorded_count,
                undelivered=self._loss_count,
                waiting=unsent_count,
            )

    def _compute_pause(self) -> float | None:
        """Return the seconds until the next send, None if no outcome waits. The delay lets outcomes be batched."""
        if not (self._queue or self._outbox.weight):
            return None
        return max(0.0, self._due - time.monotonic())

    def _work(self) -> None:
        """Send full batches, and a partial one when it is due or during `flush`."""
        is_hurried, self._is_hurried = self._is_hurried, False
        if self._outbox.weight and not (is_hurried or self._is_due()):
            return
        while is_hurried or self._is_due() or len(self._queue) >= MAX_OUTCOMES:
            self._outbox.send(self._pack_batch)
            if self._outbox.weight:
                self._due = time.monotonic() + self._pause
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                return
            self._pause, self._due = _FIRST_PAUSE, time.monotonic() + self._flush_every
            if not self._queue:
                return

    def _is_due(self) -> bool:
        return time.monotonic() >= self._due

    def _pack_batch(self) -> Iterator[Parcel]:
        """Yield the next batch, if any. Its Idempotency-Key makes a retry harmless."""
        with self._lock:
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), MAX_OUTCOMES))]
        if batch:
            items = [build_item(outcome, index) for index, outcome in enumerate(batch)]
            yield Parcel(encode_body(items, self._environment), len(batch), str(uuid.uuid4()))

    def _post(self, parcel: Parcel) -> None:
        headers = {KEY_HEADER: self._key, "Idempotency-Key": parcel.key}
        self._recorded_count += read_receipt(self._channel.post_json(OUTCOMES_PATH, parcel.body, headers)).recorded

    def _count_loss(self, count: int, error: ReportError) -> None:
        with self._lock:
            self._loss_count += count
        if self._on_error is None:
            self._log_loss(count, error, logging.ERROR)
            return
        try:
            self._on_error(error)
        except Exception:  # the caller's function must not end the thread
            _log.exception("on_error failed")


def is_valid_text(value: object, max_length: int) -> bool:
    if not isinstance(value, str) or not 1 <= len(value) <= max_length or "\0" in value:
        return False
    return not any("\ud800" <= character <= "\udfff" for character in value)
