"""Keep responses that the store could not take when their calls ended (contract §3, "toolCallId").

Without them, a retry would run such a call a second time as soon as its lease has run out.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from affidavit._errors import StoreUnavailable

from .deliveries import Claim, DeliveryStore, StoredResponse
from .problem_responses import answer_response_not_kept

_TRY_EVERY = 1
"""Seconds between two attempts."""
_GIVE_UP_AFTER = 3_600
"""Seconds after which a response is given up: it is none of a store that was away for a while."""
_LIMIT = 10_000
"""The most responses that wait."""
_MAX_BYTES = 16 * 1024 * 1024
"""The most bytes that wait. Of further responses only the fact that the call has run is kept."""

_log = logging.getLogger("affidavit.protection")


class _Unkept(NamedTuple):
    claim: Claim
    response: StoredResponse
    give_up_at: float  # of the monotonic clock


class UnkeptResponses:
    """The responses that wait for their store, in one thread per process that runs while any waits.

    If the store takes no response of this size, as when it is nearly full, it gets `response-not-kept` in its place.

    now: the clock by which the calls were claimed.
    """

    def __init__(
        self,
        store: DeliveryStore,
        *,
        now: Callable[[], float],
        every: float = _TRY_EVERY,
        give_up_after: float = _GIVE_UP_AFTER,
        limit: int = _LIMIT,
        max_bytes: int = _MAX_BYTES,
    ) -> None:
        self._store = store
        self._now = now
        self._every = every
        self._give_up_after = give_up_after
        self._limit = limit
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._has_thread = False
        self._waiting: deque[_Unkept] = deque()
        self._bytes = 0

    @property
    def count(self) -> int:
        """Return how many responses wait."""
        return len(self._waiting)

    def add(self, claim: Claim, response: StoredResponse, fault: StoreUnavailable) -> None:
        """Keep the response later. `fault` is why the store did not take it now."""
        with self._lock:
            if self._pid != os.getpid():  # a thread does not survive a fork, and the parent keeps its own responses
                self._waiting, self._bytes = deque(), 0
                self._pid, self._has_thread = os.getpid(), False
            if len(self._waiting) >= self._limit:
                _log_loss(fault)
                return
            if self._bytes + response.size > self._max_bytes:
                response = answer_response_not_kept()
            self._append(_Unkept(claim, response, time.monotonic() + self._give_up_after))
            needs_thread, self._has_thread = not self._has_thread, True
        _log.warning("a response could not be kept; this process tries again until it is kept: %s", fault.describe())
        if needs_thread:
            self._start_thread()

    def try_next(self) -> bool:
        """Keep the response that has waited longest. Return False if none waits, or the store takes none now."""
        with self._lock:
            if not self._waiting:
                return False
            unkept = self._waiting.popleft()
            self._bytes -= unkept.response.size
        try:
            was_kept = self._keep(unkept)
        except StoreUnavailable as fault:
            if time.monotonic() < unkept.give_up_at:
                with self._lock:
                    self._append(unkept)  # at the end: it may be the only one that the store does not take
            else:
                _log_loss(fault)
            return False
        except Exception:  # of a store of the host's own
            _log.exception("a retry of a call that has run may run it again")
            return True
        if not was_kept:
            log_lost_claim()
        return True

    def _append(self, unkept: _Unkept) -> None:
        self._waiting.append(unkept)
        self._bytes += unkept.response.size

    def _keep(self, unkept: _Unkept) -> bool:
        try:
            return self._store.finish(unkept.claim, unkept.response, now=self._now())
        except StoreUnavailable:
            return self._store.finish(unkept.claim, answer_response_not_kept(), now=self._now())

    def _start_thread(self) -> None:
        # Started after the lock is released: under gevent, starting a thread lets other greenlets run.
        try:
            threading.Thread(target=self._try_until_none_waits, name="affidavit-unkept", daemon=True).start()
        except RuntimeError:  # the system has no thread left, or the interpreter is shutting down
            with self._lock:
                self._has_thread = False

    def _try_until_none_waits(self) -> None:
        while True:
            time.sleep(self._every)
            while self.try_next():
                pass
            with self._lock:
                if not self._waiting:
                    self._has_thread = False
                    return


def log_lost_claim() -> None:
    """Log that a call was over after its lease."""
    _log.warning("a response was not kept: its lease ran out, and another delivery may have run the call")


def _log_loss(fault: StoreUnavailable) -> None:
    _log.error("a retry of a call that has run may run it again: %s", fault.describe())
