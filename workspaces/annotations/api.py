"""POST and GET /api/annotations (contract §6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from wire.errors import InvalidRequest
from wire.http.machine_view import CallExample, MachineView
from wire.list_position import ListPosition, parse_position
from wire.time.timestamps import unix_seconds
from workspaces.annotations.annotate import AnnotationText, add_annotation
from workspaces.annotations.queries import list_after
from workspaces.annotations.serializers import AnnotationForm, AnnotationList, AnnotationReceipt
from workspaces.authentication import HEADER, key_of_request
from workspaces.errors import ScopeMissing
from workspaces.models import Annotation, ApiKey, Environment

ANNOTATIONS_A_PART = 100
ANNOTATION_ID = "0190a5f0-6c1d-7c2b-9a3e-5f7d1c2b3a4e"
NEXT_ADDRESS = "https://hub.example.com/api/annotations?cursor=MTc5MDAwMDAwMA"
LISTED_ANNOTATION = {
    "annotationId": ANNOTATION_ID,
    "at": 1790000000,
    "text": "Deployed orders 1.9.2",
    "url": "https://example.com/releases/1.9.2",
    "environment": "production",
}
LIST_PARAMETERS = [
    OpenApiParameter("environment", str, description="Default: production."),
    OpenApiParameter("cursor", str, description="From `next`: where this part begins."),
]


@extend_schema_view(
    post=extend_schema(request=AnnotationForm, responses={201: AnnotationReceipt}),
    get=extend_schema(parameters=LIST_PARAMETERS, responses={200: AnnotationList}),
)
class Annotations(MachineView):
    """Annotations of one environment, or of all environments of the workspace."""

    scope = "report"
    form = AnnotationForm
    http_method_names = ["get", "head", "post"]
    examples = {
        "POST": CallExample(
            "Add an annotation",
            {"annotationId": ANNOTATION_ID, "at": 1790000000},
            {"environment": "production", "at": 1790000000, "text": "Deployed orders 1.9.2"},
        ),
        "GET": CallExample("List annotations", {"annotations": [LISTED_ANNOTATION], "next": NEXT_ADDRESS}),
    }

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        key = key_of_request(self.request)
        if data["allEnvironments"]:
            _require_unlimited(key)
        content = AnnotationText(data["text"], data.get("url", ""))
        annotation = add_annotation(
            environment,
            content,
            at=data.get("at", now),
            everywhere=data["allEnvironments"],
            actor=f"key {key.prefix}…",
            now=now,
        )
        return Response({"annotationId": str(annotation.pk), "at": unix_seconds(annotation.at)}, status=201)

    def get(self, request: Request) -> HttpResponse:
        """List the annotations of an environment and of all environments; `next` leads to earlier ones."""
        key = key_of_request(request)
        environment = key.require_environment(request.query_params.get("environment", "production"))
        position = _read_position(request)
        rows = list(list_after(environment, position)[: ANNOTATIONS_A_PART + 1])
        part = rows[:ANNOTATIONS_A_PART]
        next_address = _build_next_address(request, part[-1]) if len(rows) > len(part) else None
        document = {"annotations": [_build_answer(row) for row in part], "next": next_address}
        content = json.dumps(document, ensure_ascii=False).encode()
        etag = f'"{sha256(content).hexdigest()[:32]}"'
        headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": HEADER}
        answer = HttpResponse(content, content_type="application/json", headers=headers)
        return get_conditional_response(request._request, etag, None, answer) or answer


def _require_unlimited(key: ApiKey) -> None:
    """Raise ScopeMissing for a key that may use some environments only."""
    if key.environment_names:
        raise ScopeMissing("This key may use some environments only: leave allEnvironments out, or use another key.")


def _read_position(request: Request) -> ListPosition[UUID] | None:
    cursor = request.query_params.get("cursor")
    position = parse_position(cursor, UUID) if cursor else None
    if cursor and position is None:
        raise InvalidRequest("The cursor is broken. Take the whole address from `next`.")
    return position


def _build_next_address(request: Request, last: Annotation) -> str:
    query = request.query_params.copy()
    query["cursor"] = str(ListPosition(last.at, last.pk))
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


def _build_answer(row: Annotation) -> Mapping[str, Any]:
    return {
        "annotationId": str(row.pk),
        "at": unix_seconds(row.at),
        "text": row.text,
        "url": row.url or None,
        "environment": row.environment.name if row.environment else None,
    }
