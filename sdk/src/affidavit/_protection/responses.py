"""What a protected app answers in place of its handler: problem documents (RFC 9457, contract 1 and 3)."""

import json

from affidavit._intents.reasons import REASONS
from affidavit._intents.verifier import IntentRejected

from .idempotency import Finished, InFlight, Mismatch, StoredResponse

RETRY_AFTER = 5
"""Seconds to wait for a store that is away."""


def rejected(rejection: IntentRejected) -> StoredResponse:
    """403 with the reason; the detail says what was wrong and what usually helps."""
    reason = REASONS[rejection.reason]
    detail = f"{rejection.detail} {reason.usual_fix}"
    return _problem(403, "intent-rejected", reason.title, detail, reason=reason.slug)


def store_away() -> StoredResponse:
    """503: what cannot be looked up does not pass."""
    detail = "It cannot be looked up whether this call may pass, so it did not run. Send it again later."
    return _problem(503, "unavailable", "A store cannot be reached", detail, retry_after=RETRY_AFTER)


def body_too_large(limit: int) -> StoredResponse:
    """413; limit: bytes."""
    detail = f"The body is over {limit} bytes; it was not read whole, so nothing was verified and nothing ran."
    return _problem(413, "body-too-large", "The body is too large", detail)


def not_kept() -> StoredResponse:
    """What a later delivery gets when the call has run and its response could not be kept: never a second run."""
    detail = "This call has run, but its response was too large to be kept. Read its result by another call."
    return _problem(409, "response-not-kept", "The call has run before", detail)


def standing(delivery: InFlight | Finished | Mismatch) -> StoredResponse:
    """What another delivery of a call that is known already gets (contract 3, "toolCallId")."""
    if isinstance(delivery, Finished):
        kept = delivery.response
        return StoredResponse(kept.status, (*kept.headers, ("Idempotent-Replayed", "true")), kept.body)
    if isinstance(delivery, InFlight):
        detail = "An earlier delivery of this call is still running. Send it again after Retry-After seconds."
        return _problem(409, "call-in-flight", "The call is running", detail, retry_after=delivery.retry_after)
    detail = (
        "This toolCallId was used for another call: its user, operation or arguments differ. Give every call a "
        "toolCallId of its own, and keep it for the retries of that call only."
    )
    return _problem(422, "tool-call-id-reused", "The toolCallId belongs to another call", detail)


def _problem(
    status: int, code: str, title: str, detail: str, *, retry_after: int | None = None, **extra: str
) -> StoredResponse:
    document = {
        "type": f"urn:affidavit:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        **extra,
    }
    body = json.dumps(document).encode("ascii")
    headers = [
        ("Content-Type", "application/problem+json"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
    ]
    if retry_after is not None:
        headers.append(("Retry-After", str(retry_after)))
    return StoredResponse(status, tuple(headers), body)
