"""The state of one request while a verifier checks it."""

from dataclasses import dataclass, field
from typing import Any

from affidavit._json import Json

from .envelope import Envelope
from .intent import Intent


@dataclass(slots=True, eq=False, repr=False)  # a repr would show the header and the body in logs
class Attempt:
    """The facts of one request, which `IntentVerifier.verify` explains, and what its checks have found so far.

    header: the intent header; empty if there is none.
    method: the method in upper case.
    now: the time of the checks, in Unix seconds.
    dry_run: whether the nonce is only looked up, and not burnt.
    detail: why the last check failed, in plain words; empty if the meaning of its reason says all.
    args_hash: the hash of the request's arguments, once they are read.
    envelope, payload, intent: unset until their check passes.
    """

    header: str
    method: str
    path: str
    query: str
    body: bytes
    content_type: str | None
    content_encoding: str | None
    raw_path: str | None
    declared_operation: str | None
    minimum_version: int | None
    request: Any
    now: float
    framework_reads_body: bool = False
    dry_run: bool = False

    detail: str = ""
    args_hash: str | None = None
    envelope: Envelope = field(init=False)
    payload: dict[str, Json] = field(init=False)
    intent: Intent = field(init=False)

    @property
    def known_intent(self) -> Intent | None:
        """Return the intent, once its signature and its form are verified (or assumed, in a dry run); None before."""
        return getattr(self, "intent", None)

    def fail(self, reason: str, detail: str) -> str:
        """Return `reason` and keep `detail`, the cause in plain words: never a secret or a body value."""
        self.detail = detail
        return reason
