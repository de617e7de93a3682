"""Reporting outcomes in the background: a bounded queue that never blocks or breaks its caller (contract 2)."""

import atexit
import logging
import os
import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._answers import is_passing
from ._errors import HubUnreachable, ReportError
from ._keys import KEY_HEADER, required_secret_key
from ._outcomes import MAX_ITEMS, PATH, _body, _item, _receipt
from ._transport import DEFAULT_BASE_URL, DEFAULT_TIMEOUT, HttpTransport, Retry, Transport

MAX_ID, MAX_KEY = 255, 128  # code points
LONGEST_PAUSE = 30.0  # seconds between two tries while the hub cannot be reached
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

    _in_flight: int
    _closed: bool
    _abandoned: bool

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
        self._begin_anew()
        _reporters.add(self)

    def report(self, conversation_id: str, outcome_key: str) -> bool:
        """Take one outcome; returns at once and never raises. False where it had to be left out: see `counts`."""
        with self._changed:
            self._reported += 1
            if self._closed or len(self._queue) >= self._capacity or not _fits(conversation_id, outcome_key):
                self._undelivered += 1
                return False
            if not self._working():
                self._undelivered += 1
                return False
            self._queue.append((conversation_id, outcome_key))
            if len(self._queue) == 1 or len(self._queue) >= MAX_ITEMS:
                self._changed.notify_all()
            return True

    def flush(self, timeout: float | None = None) -> bool:
        """Send what waits now; True once nothing waits any more, False where `timeout` seconds were not enough."""
        with self._changed:
            self._hurried += 1
            self._changed.notify_all()
            try:
                return self._changed.wait_for(self._is_idle, timeout)
            finally:
                self._hurried -= 1

    def close(self, timeout: float | None = None) -> bool:
        """Take nothing more and send the rest, within `exit_timeout` seconds unless told otherwise."""
        with self._changed:
            self._closed = True
        done = self.flush(self._exit_timeout if timeout is None else timeout)
        with self._changed:
            if not done and (left := len(self._queue) + self._in_flight):
                self._undelivered += left
                self._queue.clear()
                self._in_flight = 0
                self._abandoned = True
                log.warning("%d outcomes could not be delivered before the end; the hub did not take them.", left)
            self._changed.notify_all()
        return done

    @property
    def counts(self) -> OutcomeCounts:
        with self._changed:
            waiting = len(self._queue) + self._in_flight
            return OutcomeCounts(self._reported, self._delivered, self._recorded, self._undelivered, waiting)

    def _begin_anew(self) -> None:
        """The state of a new process; a lock that was held at a fork would never be released in the child."""
        self._changed = threading.Condition(threading.RLock())
        self._queue: deque[tuple[str, str]] = deque()
        self._reported = self._delivered = self._recorded = self._undelivered = 0
        self._in_flight = self._hurried = 0
        self._closed = self._abandoned = False
        self._thread: threading.Thread | None = None

    def _working(self) -> bool:
        """Start the thread with the first outcome; False where none can be started any more."""
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="affidavit-outcomes", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is shutting down, or no thread is left
                return False
            self._thread = thread
        return True

    def _is_idle(self) -> bool:
        return not self._queue and not self._in_flight

    def _work(self) -> None:
        while batch := self._next_batch():
            self._deliver(batch)

    def _next_batch(self) -> Sequence[tuple[str, str]]:
        """Wait for outcomes, a little longer for company; nothing once the reporter is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closed)
            self._changed.wait_for(lambda: len(self._queue) >= MAX_ITEMS or self._is_pressed(), self._flush_every)
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), MAX_ITEMS))]
            self._in_flight = len(batch)
            return batch

    def _is_pressed(self) -> bool:
        return self._closed or self._hurried > 0

    def _deliver(self, batch: Sequence[tuple[str, str]]) -> None:
        """Try until the hub has taken the batch or refused it for good."""
        items = [_item(outcome, index) for index, outcome in enumerate(batch)]
        headers = {KEY_HEADER: self._key, "Idempotency-Key": str(uuid.uuid4())}
        pause = 0.5
        while True:
            try:
                receipt = _receipt(self._way.post_json(PATH, _body(items, self._environment), headers))
            except ReportError as error:
                if not (isinstance(error, HubUnreachable) or is_passing(error)):
                    return self._lose(len(batch), error)
            except Exception as error:  # a transport of the caller's own may raise anything; the thread must live on
                return self._lose(len(batch), ReportError(f"The transport failed: {type(error).__name__}."))
            else:
                return self._count(delivered=len(batch), recorded=receipt.recorded)
            if not self._may_try_again(pause):
                return None
            pause = min(pause * 2, LONGEST_PAUSE)

    def _may_try_again(self, pause: float) -> bool:
        """Wait; sooner when somebody begins to flush. False once the reporter gave up on what is left."""
        until = time.monotonic() + pause
        with self._changed:
            if self._hurried:
                until = min(until, time.monotonic() + 0.2)
            before = self._hurried
            self._changed.wait_for(lambda: self._abandoned or self._hurried > before, until - time.monotonic())
            return not self._abandoned

    def _lose(self, count: int, error: ReportError) -> None:
        self._count(undelivered=count)
        if self._on_error is None:
            log.error("%d outcomes were not taken: %s", count, error)
            return
        try:
            self._on_error(error)
        except Exception:  # what the caller does with an error must not end the thread
            log.exception("on_error failed")

    def _count(self, *, delivered: int = 0, recorded: int = 0, undelivered: int = 0) -> None:
        with self._changed:
            if self._abandoned:  # counted as undelivered already
                return
            self._delivered += delivered
            self._recorded += recorded
            self._undelivered += undelivered
            self._in_flight = 0
            self._changed.notify_all()


def _fits(conversation_id: object, outcome_key: object) -> bool:
    """What the hub would refuse, it would refuse with the whole batch."""
    return _is_text(conversation_id, MAX_ID) and _is_text(outcome_key, MAX_KEY)


def _is_text(value: object, longest: int) -> bool:
    if not isinstance(value, str) or not 1 <= len(value) <= longest or "\0" in value:
        return False
    return not any("\ud800" <= sign <= "\udfff" for sign in value)


_reporters: "weakref.WeakSet[OutcomeReporter]" = weakref.WeakSet()


def _close_all() -> None:
    """What still waits goes out at the end of the process, within each reporter's own time."""
    for reporter in list(_reporters):
        reporter.close()


def _after_fork() -> None:
    for reporter in list(_reporters):
        reporter._begin_anew()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
