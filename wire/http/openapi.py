"""Describe the errors and headers of every machine endpoint in /api/openapi.json, derived from the endpoint's view."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import timedelta
from typing import Any, cast

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from rest_framework.views import APIView

from affidavit import REASONS
from wire.errors import MAX_FAULTS
from wire.http.machine_view import MachineView, MethodFirstView
from wire.http.problems import CODES
from wire.redelivery.idempotency import ANSWER_LIFETIME

Json = dict[str, Any]

EVERYWHERE = ("invalid-request", "method-not-allowed", "body-too-slow", "rate-limited", "unavailable")
WITH_KEY = ("missing-api-key", "invalid-api-key", "publishable-key-refused", "scope-missing")
WITH_BODY = (
    "unsupported-media-type", "body-too-large", "invalid-encoding", "invalid-json", "invalid-idempotency-key",
    "idempotency-key-reused", "idempotency-key-in-use",
)  # fmt: skip

TEXT: Json = {"type": "string"}
FAULT: Json = {
    "type": "object",
    "required": ["pointer", "code", "detail"],
    "properties": {"pointer": {**TEXT, "description": "RFC 6901"}, "code": TEXT, "detail": TEXT},
}
PROBLEM: Json = {
    "type": "object",
    "description": "RFC 9457. `detail` says what to do next; some codes have further members.",
    "required": ["type", "title", "status", "detail", "code", "requestId"],
    "properties": {
        "type": TEXT,
        "title": TEXT,
        "status": {"type": "integer"},
        "detail": TEXT,
        "code": {**TEXT, "enum": sorted(CODES)},
        "requestId": TEXT,
        "errors": {"type": "array", "items": FAULT, "description": f"The faults of a body, at most {MAX_FAULTS}."},
        "errorsTruncated": {"type": "boolean", "description": "There are more faults than are listed."},
        "environments": {
            "type": "array",
            "items": TEXT,
            "description": "With `unknown-environment`: the environments that the workspace has.",
        },
        "limit": {"type": "integer", "description": "With `batch-too-large`: how many items a batch may have."},
        "received": {"type": "integer", "description": "With `batch-too-large`: how many it had."},
        "reason": {**TEXT, "enum": list(REASONS), "description": "With `intent-rejected`."},
        "state": {**TEXT, "description": "With `not-pending`: the state of the confirmation."},
    },
}
SECONDS: Json = {"description": "Seconds to wait before the next try.", "schema": {"type": "integer", "minimum": 1}}
HEADERS: Mapping[str, Json] = {
    "Retry-After": SECONDS,
    "RateLimit": {"description": "What is left of the limit.", "schema": TEXT},
    "RateLimit-Policy": {"description": "The limit: requests in a window of seconds.", "schema": TEXT},
    "WWW-Authenticate": {"description": "The header that must hold the key.", "schema": TEXT},
    "Allow": {"description": "The methods of this address.", "schema": TEXT},
    "Idempotent-Replayed": {
        "description": "`true`: the first answer to this Idempotency-Key, sent again.",
        "schema": {**TEXT, "enum": ["true"]},
    },
    "ETag": {"description": "Changes with the content.", "schema": TEXT},
    "X-Data-Age": {
        "description": "The age of the read replica that the answer comes from, in seconds; absent for the primary.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "X-Request-Id": {"description": "The request's, or the hub's own.", "schema": TEXT},
}
# The headers of an error response by its code. Every response has X-Request-Id besides.
HEADERS_OF_CODE: Mapping[str, Sequence[str]] = {
    "rate-limited": ("Retry-After", "RateLimit", "RateLimit-Policy"),
    "idempotency-key-in-use": ("Retry-After",),
    "unavailable": ("Retry-After",),
    "missing-api-key": ("WWW-Authenticate",),
    "invalid-api-key": ("WWW-Authenticate",),
    "method-not-allowed": ("Allow",),
}
ANSWER_HOURS = ANSWER_LIFETIME // timedelta(hours=1)
IDEMPOTENCY_KEY: Json = {
    "in": "header",
    "name": "Idempotency-Key",
    "description": f"The same key and body get the first answer again, for {ANSWER_HOURS} hours.",
    "schema": {**TEXT, "pattern": "^[!-~]{1,255}$"},
}
IF_NONE_MATCH: Json = {
    "in": "header",
    "name": "If-None-Match",
    "description": "The ETag of what the client has: 304 if it is still the same.",
    "schema": TEXT,
}


def list_codes(view: APIView, *, is_post: bool) -> list[str]:
    """Return the error codes that an endpoint can answer with, in the order of CODES, without `internal-error`.

    They follow from the kind of endpoint, apart from the `own_codes` of its view.
    """
    codes = {*EVERYWHERE, *getattr(view, "own_codes", ())}
    if hasattr(view, "scope"):
        codes.update(WITH_KEY)
    if isinstance(view, MachineView):
        codes.update(WITH_BODY if is_post else [])
        fields = view.form().fields
        codes.update(["unknown-environment"] if "environment" in fields else [])
        codes.update(["report-id-reused"] if "reportId" in fields else [])
        codes.update(["batch-too-large"] if view.items else [])
    codes.update([] if is_post else ["precondition-failed"])
    return [code for code in CODES if code in codes]


class EndpointSchema(AutoSchema):
    """Add errors, headers and links to what drf-spectacular derives from serializers."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        is_post = self.method == "POST"
        operation.setdefault("parameters", []).extend([IDEMPOTENCY_KEY] if is_post else [IF_NONE_MATCH])
        responses = operation["responses"]
        self._add_example(operation)
        for status, response in responses.items():
            self._add_success(status, response, is_post=is_post)
        if not is_post:
            responses["304"] = {
                "description": "The client has this already.",
                "headers": name_headers(self._list_read_headers()),
            }
        for status, codes in group_by_status(list_codes(self.view, is_post=is_post)).items():
            responses[status] = self._describe_errors(codes)
        operation["responses"] = dict(sorted(responses.items()))
        return operation

    def _add_example(self, operation: Json) -> None:
        view = cast(MethodFirstView, self.view)
        example = view.examples[self.method]
        operation["summary"] = example.summary
        operation["x-scope"] = view.scope
        success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
        contents = [(success["content"], example.response)]
        if "requestBody" in operation:
            contents.append((operation["requestBody"]["content"], example.request))
        for content, value in contents:
            content["application/json"]["examples"] = {"example": {"value": value}}

    def _add_success(self, status: str, response: Json, *, is_post: bool) -> None:
        if status.startswith("2"):
            names = ["Idempotent-Replayed"] if is_post else self._list_read_headers()
            response["headers"] = {**name_headers(names), **response.get("headers", {})}
            if links := getattr(self.view, "links", None):
                response["links"] = links

    def _list_read_headers(self) -> Sequence[str]:
        is_from_replica = not getattr(self.view, "is_current", True)
        return ["ETag", "X-Data-Age"] if is_from_replica else ["ETag"]

    def _describe_errors(self, codes: Sequence[str]) -> Json:
        """Return one response for all codes of a status."""
        titles = "; ".join(f"`{code}`: {_lower_first(CODES[code].title)}" for code in codes)
        schema = {"allOf": [self._problem_reference(), {"properties": {"code": {"enum": list(codes)}}}]}
        return {
            "headers": name_headers(name for code in codes for name in HEADERS_OF_CODE.get(code, ())),
            "content": {"application/problem+json": {"schema": schema}},
            "description": f"{titles}.",
        }

    def _problem_reference(self) -> Json:
        # A copy, because the generator moves enumerations out of it.
        component = ResolvedComponent(  # type: ignore[no-untyped-call]
            "Problem", ResolvedComponent.SCHEMA, schema=deepcopy(PROBLEM), object="Problem"
        )
        self.registry.register_on_missing(component)
        return dict(component.ref)


def group_by_status(codes: Collection[str]) -> dict[str, list[str]]:
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(CODES[code].status), []).append(code)
    return by_status


def name_headers(names: Iterable[str]) -> dict[str, Json]:
    return {name: HEADERS[name] for name in dict.fromkeys([*names, "X-Request-Id"])}


def _lower_first(title: str) -> str:
    """Return a title as it is written within a sentence: names such as JSON and API keep their case."""
    return title[0].lower() + title[1:]
