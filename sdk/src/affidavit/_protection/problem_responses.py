"""The problem documents that a protected app sends in place of a handler's response (RFC 9457, contract §1 and §3)."""

import json

from affidavit._intents.reasons import REASONS
from affidavit._intents.verifier import IntentRejected

from .deliveries import Finished, InFlight, Mismatch, NotKept, StoredResponse

_RETRY_AFTER = 5
"""Seconds to wait while a store is unavailable."""


def answer_rejection(rejection: IntentRejected) -> StoredResponse:
    """Return 403 with the reason; the detail says what was wrong and what usually helps."""
    reason = REASONS[rejection.reason]
    detail = f"{rejection.detail} {reason.usual_fix}"
    return _build_problem(403, "intent-rejected", reason.title, detail, reason=reason.slug)


def answer_store_outage() -> StoredResponse:
    """Return 503: a call does not pass while a store is unavailable."""
    detail = (
        "The store that says whether this call may run cannot be reached, so it did not run. Send it again after "
        "Retry-After seconds, with a new intent for the same toolCallId: this one may be used up."
    )
    return _build_problem(503, "unavailable", "A store cannot be reached", detail, retry_after=_RETRY_AFTER)


def answer_body_too_large(limit: int, setting: str = "max_body") -> StoredResponse:
    """Return 413.

    limit: the limit in bytes.
    setting: the name of the setting that sets the limit.
    """
    detail = (
        f"The body is over {limit} bytes ({setting}); it was not read to its end, "
        "so nothing was verified and nothing ran."
    )
    return _build_problem(413, "body-too-large", "The body is too large", detail)


def answer_body_incomplete() -> StoredResponse:
    """Return 400 for a body that broke off or cannot be decoded. It is no rejection: the intent was not verified."""
    detail = "The whole body could not be read: it broke off or is damaged, so nothing was verified and nothing ran."
    return _build_problem(400, "body-incomplete", "The body is incomplete", detail)


def answer_response_not_kept() -> StoredResponse:
    """Return 409 for a call that has run and whose response was not kept: it never runs twice."""
    detail = (
        "This call has run, but its response is not kept: it was too large, it was a stream, or the store was full. "
        "Read its result by another call."
    )
    return _build_problem(409, "response-not-kept", "The call has run before", detail)


def answer_known_call(delivery: InFlight | Finished | NotKept | Mismatch) -> StoredResponse:
    """Return the response to a delivery whose call is known already (contract §3, "toolCallId")."""
    if isinstance(delivery, Finished | NotKept):
        response = delivery.response if isinstance(delivery, Finished) else answer_response_not_kept()
        return StoredResponse(response.status, (*response.headers, ("Idempotent-Replayed", "true")), response.body)
    if isinstance(delivery, InFlight):
        detail = (
            "An earlier delivery of this call is still running. Send it again after Retry-After seconds, with a new "
            "intent for the same toolCallId: this one is used up."
        )
        return _build_problem(409, "call-in-flight", "The call is running", detail, retry_after=delivery.retry_after)
    detail = (
        "This toolCallId was used for another call: its user, operation or arguments differ. Give every call a "
        "toolCallId of its own, and keep it for the retries of that call only."
    )
    return _build_problem(422, "tool-call-id-reused", "The toolCallId belongs to another call", detail)


def _build_problem(
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
