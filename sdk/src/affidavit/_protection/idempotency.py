"""Idempotency by toolCallId: a call delivered again gets the answer of the first (contract 3, "toolCallId").

A store keeps, per (workspace, toolCallId), a fingerprint of the call, a lease while it runs, and its response
for 24 hours. After a crash the lease runs out, and a retry runs again.
"""

import base64
import json
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from typing import NamedTuple, Protocol

from affidavit._intents.intent import Intent
from affidavit._intents.stores import StoreUnavailable

LEASE = 60
"""Seconds that a call counts as running without a sign of life."""
RENEWED_EVERY = 20
"""Seconds between two signs of life of a running call."""
KEPT_FOR = 86_400
"""Seconds that a response is kept."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response as it was first given. headers: in order, without those that belong to one connection."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def __repr__(self) -> str:
        return f"<StoredResponse {self.status}>"

    def to_text(self) -> str:
        """One line of ASCII for any store."""
        return json.dumps([self.status, self.headers, base64.b64encode(self.body).decode("ascii")])

    @classmethod
    def from_text(cls, text: str) -> "StoredResponse":
        """The inverse of `to_text`."""
        status, headers, body = json.loads(text)
        return cls(status, tuple((name, value) for name, value in headers), base64.b64decode(body))


class Claim(NamedTuple):
    """The right to run the call, until the lease ends: renew it, then `finish` or `abandon` it."""

    key: str
    owner: str


@dataclass(frozen=True, slots=True)
class InFlight:
    """The call is running: answer 409. retry_after: seconds until its lease ends, at least 1."""

    retry_after: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The call has run: answer with its response and `Idempotent-Replayed: true`."""

    response: StoredResponse


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The toolCallId belongs to another call: answer 422."""


Delivery = Claim | InFlight | Finished | Mismatch


class DeliveryStore(Protocol):
    """Any store of deliveries. Every method is one atomic step, or raises StoreUnavailable."""

    def claim(self, workspace: str, tool_call_id: str, fingerprint: str, *, now: float) -> Delivery:
        """Claim for exactly one caller while the call runs; what the others get says how it stands."""

    def renew(self, claim: Claim, *, now: float) -> bool:
        """Gives the claim a whole lease again; False when it is lost."""

    def finish(self, claim: Claim, response: StoredResponse, *, now: float) -> bool:
        """Keeps the response for 24 hours; False when the claim was lost, and nothing is kept."""

    def abandon(self, claim: Claim) -> None:
        """Lets a retry run at once, as after a failure that did nothing."""


def fingerprint(intent: Intent) -> str:
    """What makes two deliveries one call: sub, operation, argsHash; in version 1 userId, method and path."""
    facts = intent.version, intent.sub, intent.operation, intent.args_hash
    return sha256(ascii(facts).encode("ascii")).hexdigest()


def new_owner() -> str:
    """Who holds a claim: random, so that one that was lost can never be mistaken for its successor."""
    return token_hex(16)


class Leases:
    """Renews the claims of running calls, from one thread of the process that starts when first needed."""

    def __init__(self, store: DeliveryStore, *, every: float = RENEWED_EVERY) -> None:
        self._store = store
        self._every = every
        self._lock = threading.Lock()
        self._held: set[Claim] = set()
        self._renewing_pid: int | None = None

    def hold(self, claim: Claim) -> None:
        """Renews `claim` from now on."""
        with self._lock:
            self._held.add(claim)
            if self._renewing_pid != os.getpid():  # a thread does not survive a fork
                self._held = {claim}
                self._renewing_pid = os.getpid()
                threading.Thread(target=self._renew_until_idle, name="affidavit-leases", daemon=True).start()

    def release(self, claim: Claim) -> None:
        """Leaves `claim` to itself."""
        with self._lock:
            self._held.discard(claim)

    def _renew_until_idle(self) -> None:
        while True:
            time.sleep(self._every)
            with self._lock:
                claims = tuple(self._held)
                if not claims:
                    self._renewing_pid = None
                    return
            for claim in claims:
                # A store that is away now may be back before the lease ends.
                with suppress(StoreUnavailable):
                    self._store.renew(claim, now=time.time())
