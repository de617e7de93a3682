"""The leases of running calls: how long one is, and how often it is renewed (contract §3, "toolCallId")."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from .deliveries import Claim, DeliveryStore

LEASE = 60
"""Seconds until a claim expires unless it is renewed."""
_RENEW_EVERY = 20
"""Seconds between two renewals of a running call's claim."""


class Leases:
    """Renew the claims of running calls, in one thread per process that starts with the first claim.

    now: the clock by which the calls were claimed.
    """

    def __init__(
        self, store: DeliveryStore, *, every: float = _RENEW_EVERY, now: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._every = every
        self._now = now
        self._lock = threading.Lock()
        self._claims: set[Claim] = set()
        self._pid = os.getpid()
        self._has_thread = False

    def hold(self, claim: Claim) -> None:
        """Renew `claim` from now on. If no thread can be started, the next call tries again."""
        with self._lock:
            if self._pid != os.getpid():  # a thread does not survive a fork, and the parent renews its own claims
                self._claims, self._pid, self._has_thread = set(), os.getpid(), False
            self._claims.add(claim)
            if self._has_thread:
                return
            self._has_thread = True
        # Started after the lock is released: under gevent, starting a thread lets other greenlets run.
        try:
            threading.Thread(target=self._renew_until_idle, name="affidavit-leases", daemon=True).start()
        except RuntimeError:  # the system has no thread left, or the interpreter is shutting down
            with self._lock:
                self._has_thread = False

    def release(self, claim: Claim) -> None:
        """Stop renewing `claim`."""
        with self._lock:
            self._claims.discard(claim)

    def _renew_until_idle(self) -> None:
        while True:
            time.sleep(self._every)
            with self._lock:
                claims = tuple(self._claims)
                if not claims:
                    self._has_thread = False
                    return
            for claim in claims:
                if claim not in self._claims:  # its call has ended since, perhaps without a response
                    continue
                # A store that fails now may recover before the lease expires; one of the host's own may raise anything.
                with suppress(Exception):
                    self._store.renew(claim, now=self._now())
