"""Idempotency by toolCallId: a repeated delivery of a call gets the first response (contract §3, "toolCallId").

For each (workspace, toolCallId) a store keeps a fingerprint of the call, a lease while it runs, and its response for
24 hours. After a crash the lease expires, and a retry runs the call again. For a call that only reads, no response is
kept: the lease ends with the call, so a retry runs it again.
"""

import base64
import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from typing import NamedTuple, Protocol

from affidavit._intents.intent import Intent

LEASE = 60
"""Seconds until a claim expires unless it is renewed."""
_RENEW_EVERY = 20
"""Seconds between two renewals of a running call's claim."""
RETENTION = 86_400
"""Seconds that a response is kept for retries."""
_RETRY_STATUSES = frozenset({408, 425, 429})
# These headers belong to one connection or one moment; a kept cookie would be a stored credential.
_HEADERS_NOT_KEPT = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "date", "server", "set-cookie"}
)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The first response to a call.

    headers: the headers in order, without those of the connection.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def __repr__(self) -> str:
        return f"<StoredResponse {self.status}>"

    @property
    def size(self) -> int:
        """Return the length of body and headers."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers)

    def to_text(self) -> str:
        """Return the response as one line of ASCII."""
        return json.dumps([self.status, self.headers, base64.b64encode(self.body).decode("ascii")])

    @classmethod
    def from_text(cls, text: str) -> "StoredResponse":
        """Return the response that `to_text` wrote."""
        status, headers, body = json.loads(text)
        return cls(status, tuple((name, value) for name, value in headers), base64.b64decode(body))


def keep_response(status: int, headers: Iterable[tuple[str, str]], body: bytes) -> StoredResponse:
    """Return a response as it is kept for retries: without the headers that belong to one connection or moment."""
    kept_headers = [(name, value) for name, value in headers if name.lower() not in _HEADERS_NOT_KEPT]
    return StoredResponse(status, tuple(kept_headers), body)


class Claim(NamedTuple):
    """The right to run the call until the lease expires: renew it, then `finish` or `abandon` it."""

    key: str
    owner: str


@dataclass(frozen=True, slots=True)
class InFlight:
    """The call is running: answer 409.

    retry_after: seconds until its lease expires, at least 1.
    """

    retry_after: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The call has run: answer with its response and `Idempotent-Replayed: true`."""

    response: StoredResponse


@dataclass(frozen=True, slots=True)
class NotKept:
    """The call has run, and its response is no longer kept: answer 409."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The toolCallId belongs to another call: answer 422."""


Delivery = Claim | InFlight | Finished | NotKept | Mismatch


class DeliveryStore(Protocol):
    """A store of deliveries. Every method is one atomic step, or raises StoreUnavailable."""

    def claim(self, workspace: str, tool_call_id: str, fingerprint: str, *, now: float) -> Delivery:
        """Return a Claim to exactly one caller while the call runs, and the state of the call to all others."""

    def renew(self, claim: Claim, *, now: float) -> bool:
        """Give the claim a full lease again. Return False if the claim is lost."""

    def finish(self, claim: Claim, response: StoredResponse, *, now: float) -> bool:
        """Keep the response for 24 hours. Return False if the claim is lost; then nothing is kept."""

    def abandon(self, claim: Claim) -> None:
        """Release the claim, so that a retry runs at once."""


def asks_for_retry(status: int) -> bool:
    """Return whether a response of this status is not kept, so that a retry runs the call again."""
    return status >= 500 or status in _RETRY_STATUSES


def compute_fingerprint(intent: Intent) -> str:
    """Hash the facts that all deliveries of one call share.

    They are the version, sub, operation and argsHash; in version 1 the version, userId, method and path.
    """
    facts = f"({intent.version}, {intent.sub!a}, {intent.operation!a}, {intent.args_hash!a})"
    return sha256(facts.encode("ascii")).hexdigest()


def resolve_known_call(
    known_fingerprint: str, fingerprint: str, state: Finished | NotKept | None, lease_until: float, now: float
) -> Delivery:
    """Return the answer to a delivery whose call was claimed by an earlier delivery.

    state: None while the call runs.
    """
    if known_fingerprint != fingerprint:
        return Mismatch()
    return state or InFlight(retry_after=max(1, math.ceil(lease_until - now)))


def make_owner() -> str:
    """Return a random owner for a claim, so that a lost claim is not mistaken for a later one of the same call."""
    return token_hex(16)


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
