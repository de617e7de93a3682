"""The one error shape: application/problem+json (RFC 9457, contract 1)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.core.exceptions import BadRequest, DisallowedHost, SuspiciousOperation
from django.db import Error as DatabaseError
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.settings import api_settings

MAX_FAULTS = 100
RETRY_AFTER_SECONDS = 5
log = logging.getLogger("affidavit.problems")

# Every code that the API answers with, and its title; docs/api.md lists the same table (a test compares them).
CODES: Mapping[str, str] = {
    "missing-api-key": "No API key was sent",
    "invalid-api-key": "The API key is not valid",
    "publishable-key-refused": "A publishable key cannot do this",
    "scope-missing": "The key lacks the scope for this",
    "method-not-allowed": "The method is not allowed here",
    "unsupported-media-type": "The content type or encoding is not supported",
    "body-too-large": "The body is too large",
    "invalid-encoding": "The compressed body is broken",
    "invalid-idempotency-key": "The Idempotency-Key is not valid",
    "idempotency-key-reused": "The Idempotency-Key belongs to another body",
    "idempotency-key-in-use": "A request with this Idempotency-Key is still running",
    "report-id-reused": "The reportId belongs to another report",
    "invalid-json": "The body is not valid JSON",
    "invalid-request": "The request does not have the right form",
    "batch-too-large": "The batch has too many items",
    "unknown-environment": "The workspace has no such environment",
    "confirmation-required": "A confirmation must come first",
    "not-pending": "The confirmation is not pending any more",
    "intent-rejected": "The intent was rejected",
    "unavailable": "The hub cannot store anything at the moment",
    "not-found": "There is nothing here",
    "not-signed-in": "Nobody is signed in",
    "internal-error": "The hub failed",
}


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a body: where (RFC 6901), a stable code, and what to do."""

    pointer: str
    code: str
    detail: str

    def as_json(self) -> dict[str, str]:
        return {"pointer": self.pointer, "code": self.code, "detail": self.detail}


@dataclass
class Problem(Exception):
    """An answer that is an error; raise it from anywhere beneath a view.

    Extra members of the document (`limit`, `environments` …) go in `extra`.
    """

    status: int
    code: str
    detail: str
    faults: Sequence[Fault] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_json(self, request_id: str) -> dict[str, Any]:
        document = {
            "type": f"urn:affidavit:problem:{self.code}",
            "title": CODES.get(self.code, HTTPStatus(self.status).phrase),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "requestId": request_id,
            **self.extra,
        }
        if self.faults:
            document["errors"] = [fault.as_json() for fault in self.faults[:MAX_FAULTS]]
        if len(self.faults) > MAX_FAULTS:
            document["errorsTruncated"] = True
        return document

    def response(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse(
            self.as_json(getattr(request, "request_id", "")),
            status=self.status,
            headers=dict(self.headers),
            content_type="application/problem+json",
        )


def unavailable() -> Problem:
    cause = "The database cannot be reached, is full or gave way to other work."
    detail = f"{cause} Nothing of this request was stored; send it again later."
    return Problem(503, "unavailable", detail, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def is_outage(error: BaseException) -> bool:
    """A database that is away, full or shutting down, or gave way to another transaction: not a wrong statement."""
    if not isinstance(error, DatabaseError) or isinstance(error, IntegrityError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    # No state: connection lost. 08 connection, 25006 read-only, 40 deadlock, 53 resources, 57 shut down, 58 I/O.
    return state is None or state == "25006" or state[:2] in {"08", "40", "53", "57", "58"}


def handler(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """DRF's EXCEPTION_HANDLER: whatever was raised, one problem document."""
    request = context["request"]
    response = problem_of(error).response(request._request)
    response.is_failure = True
    return response


def problem_of(error: Exception) -> Problem:
    match error:
        case Problem():
            return error
        case exceptions.ValidationError():
            return invalid_request(tuple(faults_of(error.detail)))
        case exceptions.MethodNotAllowed():
            return Problem(405, "method-not-allowed", "Use one of the methods in the Allow header.")
        case DisallowedHost():
            detail = "The hub does not answer to this name. Call it by another, or add this one to ALLOWED_HOSTS."
            return Problem(400, "invalid-request", detail)
        case SuspiciousOperation() | BadRequest():
            return Problem(400, "invalid-request", "The request cannot be read as it was sent; nothing was stored.")
        case exceptions.NotFound() | Http404():
            return Problem(404, "not-found", "Check the address; nothing is stored under it in this workspace.")
    if is_outage(error):
        log.error("database unavailable: %s", type(error.__cause__ or error).__name__)
        return unavailable()
    log.error("unhandled failure", exc_info=error)
    return Problem(500, "internal-error", "This is a fault of the hub. Name the requestId when you report it.")


def invalid_request(faults: Sequence[Fault]) -> Problem:
    counted = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return Problem(400, "invalid-request", f"The body has {counted}, listed under errors; nothing was stored.", faults)


def faults_of(detail: Any, pointer: str = "") -> Iterator[Fault]:
    """Flatten a serializer's nested errors into faults with RFC 6901 pointers, in order of the document."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            own = name == api_settings.NON_FIELD_ERRORS_KEY
            yield from faults_of(inner, pointer if own else f"{pointer}/{escaped(str(name))}")
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            yield from faults_of(inner, f"{pointer}/{index}" if nested else pointer)
    else:
        yield Fault(pointer, getattr(detail, "code", "invalid"), str(detail))


def escaped(name: str) -> str:
    """One token of an RFC 6901 pointer."""
    return name.replace("~", "~0").replace("/", "~1")
