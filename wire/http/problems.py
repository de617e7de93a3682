"""Every error as application/problem+json (RFC 9457, contract §1), with one HTTP status for each code."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.exceptions import BadRequest, DisallowedHost, PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.settings import api_settings

from wire.errors import DomainError, Fault, InvalidBody, InvalidRequest, NotFound, Unavailable, Unconfirmed
from wire.postgresql.database_outage import is_outage
from wire.postgresql.sqlstates import find_sqlstate
from wire.postgresql.unconfirmed_commits import is_unconfirmed
from wire.request_context import current_request_id

log = logging.getLogger("affidavit.problems")


class Code(NamedTuple):
    """What a code means. cure: what a client should do, in Markdown; docs/api.md has the same words."""

    status: int
    title: str
    cure: str


# Every code that the hub answers with; docs/api.md and docs/contract.md list the same codes and statuses.
CODES: Mapping[str, Code] = {
    "missing-api-key": Code(401, "No API key was sent", "send `x-service-api-key`"),
    "invalid-api-key": Code(401, "The API key is not valid", "copy the key again; if it is right, it was revoked"),
    "publishable-key-refused": Code(403, "A publishable key cannot do this", "send a `gak_` key, from a backend"),
    "scope-missing": Code(
        403, "The key lacks the scope for this", "use a key with the scope, or for the environment, that `detail` names"
    ),
    "role-missing": Code(
        403, "Your role does not allow this", "ask an admin of the workspace for the role that `detail` names"
    ),
    "rate-limited": Code(
        429, "Too many requests", "wait for the seconds in `Retry-After`, then send the same request again"
    ),
    "method-not-allowed": Code(405, "The method is not allowed here", "use a method listed in `Allow`"),
    "precondition-failed": Code(
        412, "The condition of the request is not met", "leave out `If-Match` and `If-Unmodified-Since`"
    ),
    "unsupported-media-type": Code(
        415, "The content type or encoding is not supported", "send JSON in UTF-8, plain or with gzip"
    ),
    "body-too-large": Code(413, "The body is too large", "send smaller batches"),
    "body-too-slow": Code(408, "The body came too slowly", "send the body at once, on a new connection"),
    "invalid-encoding": Code(400, "The compressed body is broken", "compress the body again, or send it uncompressed"),
    "invalid-idempotency-key": Code(400, "The Idempotency-Key is not valid", "send 1 to 255 visible ASCII characters"),
    "idempotency-key-reused": Code(
        422, "The Idempotency-Key belongs to another body", "use a new key for a different request"
    ),
    "idempotency-key-in-use": Code(
        409,
        "A request with this Idempotency-Key is still running",
        "wait for `Retry-After` seconds, then send the same request again",
    ),
    "report-id-reused": Code(422, "The reportId belongs to another report", "use a new id for a new report"),
    "invalid-json": Code(400, "The body is not valid JSON", "fix the JSON; the contract lists what is refused"),
    "invalid-request": Code(400, "The request does not have the right form", "fix what `detail` or `errors` names"),
    "batch-too-large": Code(
        400, "The batch has too many items", "split the batch; `limit` and `received` have the numbers"
    ),
    "unknown-environment": Code(400, "The workspace has no such environment", "use one of `environments`"),
    "confirmation-required": Code(
        409, "A confirmation must come first", "request one first: `POST /api/confirmations`"
    ),
    "not-pending": Code(
        409, "The confirmation is not pending any more", "read `state`; request a new confirmation if needed"
    ),
    "form-refused": Code(403, "The form was not accepted", "on pages only: reload the page, then send its form again"),
    "intent-rejected": Code(403, "The intent was rejected", "look up `reason` in the table of reasons"),
    "membership-fault": Code(409, "The members stay as they are", "on pages: do what `detail` says"),
    "too-many-attempts": Code(429, "Too many attempts to sign in", "on pages: wait for the seconds in `Retry-After`"),
    "sign-in-refused": Code(
        403,
        "You cannot sign in here",
        "on pages: verify the e-mail address at the provider, or ask an admin for an invitation",
    ),
    "sign-in-failed": Code(400, "Signing in did not succeed", "on pages: start signing in again"),
    "sign-in-unavailable": Code(503, "The sign-in service does not answer", "on pages: try again later"),
    "unavailable": Code(
        503,
        "The database is not available at the moment",
        "wait for `Retry-After` seconds, then send the same request again, under the same `Idempotency-Key` "
        "or `reportId`. `detail` says that nothing was stored; or that the request may have been stored, "
        "because the connection to the database broke during the commit",
    ),
    "not-found": Code(404, "There is nothing here", "check the address"),
    "not-signed-in": Code(401, "Nobody is signed in", "sign in, or send a key"),
    "internal-error": Code(500, "The hub failed", "report it with its `requestId`"),
}


class Problem(DomainError):
    """An error of HTTP itself, such as a missing key or a wrong method; `headers` go into the answer."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        extra: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail, extra=extra)
        self.code = code
        self.headers = headers or {}


class FailureResponse(HttpResponse):
    """An answer that is a problem document or its page: the middleware leaves it as it is. code: the error's code."""

    def __init__(self, content: str | bytes, error: DomainError, content_type: str | None = None) -> None:
        status = CODES[error.code].status
        super().__init__(content, status=status, headers=list_headers(error), content_type=content_type)
        self.code = error.code


def handle_exception(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """DRF's EXCEPTION_HANDLER: answer whatever was raised with a problem document."""
    return render_problem(find_cause(error))


def render_problem(error: DomainError) -> FailureResponse:
    return FailureResponse(json.dumps(build_document(error)), error, "application/problem+json")


def build_document(error: DomainError) -> dict[str, Any]:
    status, title, _ = CODES[error.code]
    return {
        "type": f"urn:affidavit:problem:{error.code}",
        "title": title,
        "status": status,
        "detail": error.detail,
        "code": error.code,
        "requestId": current_request_id.get(),
        **error.extra,
    }


def list_headers(error: DomainError) -> dict[str, str]:
    retry_after = {"Retry-After": str(error.retry_after)} if error.retry_after else {}
    return {**error.headers, **retry_after}


def find_cause(error: Exception) -> DomainError:
    """Return the domain's error for whatever a view, Django or DRF raised; log faults of the hub and its database."""
    match error:
        case DomainError():
            return error
        case exceptions.ValidationError():
            return InvalidBody(*flatten_faults(error.detail))
        case exceptions.MethodNotAllowed():
            return Problem("method-not-allowed", "Use one of the methods in the Allow header.")
        case DisallowedHost():
            return InvalidRequest(
                "The hub does not answer under this host name. Use another one, or add it to ALLOWED_HOSTS."
            )
        case SessionInterrupted():
            return find_cause_of_lost_session(error)
        case SuspiciousOperation() | BadRequest() | MultiPartParserError():
            return InvalidRequest("The request cannot be read as it was sent; nothing was stored.")
        case exceptions.NotFound() | Http404() | PermissionDenied():
            return NotFound("This page does not exist, or you have no access.")
    if is_outage(error):
        name, state = type(error.__cause__ or error).__name__, find_sqlstate(error)
        log.error("database unavailable: %s", name, extra={"sqlstate": state})
        return Unconfirmed() if is_unconfirmed(error) else Unavailable()
    log.error("unhandled failure", exc_info=error)
    return Problem("internal-error", "This is a fault of the hub. Name the requestId when you report it.")


def find_cause_of_lost_session(error: SessionInterrupted) -> DomainError:
    """Return why a session was not stored. It is stored after the view, whose changes may already be stored."""
    causes: list[BaseException] = [error]
    while context := causes[-1].__context__:
        causes.append(context)
    if any(isinstance(cause, OperationalError | InterfaceError) for cause in causes):
        log.error("database unavailable: the session was not stored")
        return Unavailable("The database went away during this request. Look whether its changes were stored.")
    return Problem("not-signed-in", "You were signed out during this request. Look whether its changes were stored.")


def flatten_faults(detail: Any, pointer: str = "") -> Iterator[Fault]:
    """Yield a serializer's nested errors as faults with RFC 6901 pointers, in the order of the document."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            is_own = name == api_settings.NON_FIELD_ERRORS_KEY
            yield from flatten_faults(inner, pointer if is_own else f"{pointer}/{escape_token(str(name))}")
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            is_nested = isinstance(inner, Mapping | list)
            yield from flatten_faults(inner, f"{pointer}/{index}" if is_nested else pointer)
    else:
        yield Fault(pointer, getattr(detail, "code", "invalid"), str(detail))


def escape_token(name: str) -> str:
    """Escape one token of an RFC 6901 pointer."""
    return name.replace("~", "~0").replace("/", "~1")
