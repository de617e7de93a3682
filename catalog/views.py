"""The pages of the catalog: the list of operations, and one operation with its shapes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from affidavit import describe
from catalog import exports, history, queries
from catalog.filters import SHOWS, SORTED_COLUMNS, STATUS_CLASSES, Filters
from catalog.json_schema import schema_of
from catalog.parts import Shape, chosen, parameters_of, shapes_of
from catalog.tree import folded, nodes
from wire.problems import Problem
from wire.ranges import Range
from workspaces.models import Environment
from workspaces.pages import Page

OPERATIONS_A_PAGE = 100
PARKED_SHOWN = 20
NODES_SHOWN = 1000  # rows; what large places hold comes when they are opened
# The downloads of contract 5, by the name of their address.
FORMS = (("catalog-openapi", "OpenAPI"), ("catalog-schemas", "JSON Schema"), ("catalog-tools", "Tools"))
FIRST_REPORT = """{%s"reportId": "7c9e6679-7425-40de-944b-e07fc1f90ae7", "observations": [
    {"method": "GET", "path": "/orders/{orderId}", "status": 200, "count": 1,
     "parameters": {"orderId": {"type": "integer"}},
     "response": {"type": "object",
      "properties": {"id": {"type": "integer"}, "paid": {"type": "boolean"}}}}]}"""


def catalog(request: HttpRequest, environment: Environment, range: Range) -> Page:
    filters = Filters.of(request.GET)
    found = queries.listed(environment, range, filters)
    parked = queries.parked(environment)

    def context() -> Mapping[str, Any]:
        operations = Paginator(found, OPERATIONS_A_PAGE).get_page(request.GET.get("page"))
        return {
            "filters": filters,
            "operations": operations,
            "empty": not (operations.paginator.count or filters.narrowing),
            "empty_body": first_report(environment),
            "methods": queries.methods(environment),
            "status_classes": STATUS_CLASSES,
            "shows": SHOWS,
            "forms": FORMS,
            "others": environment.workspace.environments.exclude(pk=environment.pk),
            "columns": SORTED_COLUMNS,
            "parked": parked[:PARKED_SHOWN],
            "parked_in_all": parked.count(),
        }

    tables = [exports.operations(found), exports.parked(parked)]
    return Page("catalog/catalog.html", context, tables, partial="catalog/_partials/operations.html")


def first_report(environment: Environment) -> str:
    """The body of a call that puts one operation into this environment."""
    target = "" if environment.name == "production" else f'"environment": "{environment.name}", '
    return FIRST_REPORT % target


def operation(request: HttpRequest, environment: Environment, range: Range) -> Page:
    """Raises Problem 404 where the environment has no such operation."""
    method, path = (request.GET.get(name, "").replace("\0", "") for name in ("method", "path"))
    found = queries.operation(environment, method.upper(), path)
    if found is None:
        detail = (
            "This environment has no such operation. Look for it in the catalog or in another environment,"
            " or report an observation of it."
        )
        raise Problem(404, "not-found", detail)
    shapes = shapes_of(found)
    part = chosen(shapes, request.GET.get("part", ""))
    compared = history.compared(found, request.GET)
    tables = [
        exports.properties(shapes),
        exports.responses(found),
        exports.versions(found),
        exports.changes(compared),
    ]

    at = request.GET.get("at", "")

    def context() -> Mapping[str, Any]:
        if at and request.htmx:
            return tree_context(part, at, inside_only=True)
        return {
            **tree_context(part, at),
            "operation": found,
            "shapes": shapes,
            "parameters": parameters_of(found),
            "timeline": history.timeline(found),
            "compared": compared,
            "fresh_starts": found.fresh_starts.all(),
        }

    partial = "catalog/_partials/inside.html" if at else ""
    return Page("catalog/operation.html", context, tables, partial=partial)


def tree_context(part: Shape, at: str, *, inside_only: bool = False) -> Mapping[str, Any]:
    """The rows of a part from the place `at` on; its schema where all of it is shown."""
    rows = list(nodes(part.evidence, observations=part.observations))
    shown, is_cut = folded(rows, at=at, inside_only=inside_only, limit=NODES_SHOWN)
    context = {"part": part, "nodes": shown, "at": at, "nodes_shown": NODES_SHOWN, "is_cut": is_cut}
    if len(shown) < len(rows):
        return context
    schema = schema_of(describe(part.evidence, counts=False))
    return {**context, "schema": json.dumps(schema, indent=2, ensure_ascii=False)}
