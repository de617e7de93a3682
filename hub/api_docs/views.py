"""The OpenAPI document and the API docs. Members see the docs within their workspace, everybody else without one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import condition

from hub.api_docs.calls import ApiCall, list_calls
from hub.api_docs.document import compute_etag, render_document
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.access import list_workspaces
from workspaces.models import Environment
from workspaces.pages.page import Page


@condition(etag_func=lambda request: compute_etag())
def show_document(request: HttpRequest) -> HttpResponse:
    """Answer with the OpenAPI document of the API of the hub."""
    headers = {"Content-Disposition": 'inline; filename="affidavit-openapi.json"', "Cache-Control": "private, no-cache"}
    return HttpResponse(render_document(), content_type="application/vnd.oai.openapi+json", headers=headers)


def find_api_docs(request: HttpRequest) -> HttpResponse:
    """Redirect members to the page in their workspace. Show everybody else the page without a workspace."""
    workspace = list_workspaces(request.user).first()
    if workspace:
        return redirect("api", workspace.slug, "production")
    return render(request, "hub/api_docs.html", build_context())


def show_api_docs(request: HttpRequest, environment: Environment, period: Period) -> Page:
    def build_context_of_environment() -> Mapping[str, Any]:
        return build_context(environment)

    tables = [Table("calls", COLUMNS, iterate_calls)]
    return Page("hub/api_docs.html", build_context_of_environment, tables, has_period=False)


REPORT_ID = re.compile(r'"reportId": "[^"]*"')
COLUMNS = ("method", "path", "summary", "scope")


def iterate_calls() -> Iterator[Sequence[Any]]:
    for calls in list_calls().values():
        for call in calls:
            yield (call.method, call.path, call.summary, call.scope)


def build_context(environment: Environment | None = None) -> Mapping[str, Any]:
    """Return the calls. Their examples name the environment of the page. Each environment has its own report ids."""
    if environment is None:
        return {"parts": list_calls().items()}
    return {
        "parts": [(part, [_adapt_body(call, environment) for call in calls]) for part, calls in list_calls().items()]
    }


def _adapt_body(call: ApiCall, environment: Environment) -> ApiCall:
    report_id = uuid5(NAMESPACE_URL, f"{environment.workspace_id}/{environment.name}/docs/{call.id}")

    def adapt(example: str) -> str:
        return REPORT_ID.sub(f'"reportId": "{report_id}"', example).replace('"production"', f'"{environment.name}"')

    return replace(call, body=adapt(call.body), answer=adapt(call.answer))
