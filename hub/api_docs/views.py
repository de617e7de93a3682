"""The OpenAPI document, and the API docs: inside the frame of a workspace for its members, alone for everybody else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import condition

from hub.api_docs.document import compute_etag, list_calls, render_document
from wire.period import Period
from wire.table_exports import Table
from workspaces.access import list_workspaces
from workspaces.models import Environment
from workspaces.page import Page


@condition(etag_func=lambda request: compute_etag())
def show_document(request: HttpRequest) -> HttpResponse:
    """Answer with the OpenAPI document of the API of the hub."""
    headers = {"Content-Disposition": 'inline; filename="affidavit-openapi.json"', "Cache-Control": "private, no-cache"}
    return HttpResponse(render_document(), content_type="application/vnd.oai.openapi+json", headers=headers)


def find_api_docs(request: HttpRequest) -> HttpResponse:
    """Lead members to the page inside their workspace; show it without one to everybody else."""
    workspace = list_workspaces(request.user).first()
    if workspace:
        return redirect("api", workspace.slug, "production")
    return render(request, "hub/api_docs.html", build_context())


def show_api_docs(request: HttpRequest, environment: Environment, period: Period) -> Page:
    return Page("hub/api_docs.html", build_context, [Table("calls", COLUMNS, iterate_calls)], has_period=False)


COLUMNS = ("method", "path", "summary", "scope")


def iterate_calls() -> Iterator[Sequence[Any]]:
    for calls in list_calls().values():
        for call in calls:
            yield (call.method, call.path, call.summary, call.scope)


def build_context() -> Mapping[str, Any]:
    return {"parts": list_calls().items()}
