"""Deliveries of a call, one for each toolCallId: a repeated one gets the first response (contract §3, "toolCallId").

For each (workspace, toolCallId) a store keeps a fingerprint of the call, a lease while it runs, and its response for
24 hours. After a crash the lease expires, and a retry runs the call again. For a call that only reads, no response is
kept: the lease ends with the call, so a retry runs it again.
"""

import base64
import json
import math
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from typing import NamedTuple, Protocol

from affidavit._intents.intent import Intent


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
