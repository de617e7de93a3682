"""The pages of the catalog: the list of operations, and one operation with its shapes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from catalog import exports, queries
from catalog.filters import SORTED_COLUMNS, STATUS_CLASSES, Filters
from catalog.models import Operation
from catalog.parts import Shape, chosen, parameters_of, shapes_of
from catalog.tree import folding, nodes
from wire.problems import Problem
from wire.ranges import Range
from workspaces.models import Environment
from workspaces.pages import Page

OPERATIONS_A_PAGE = 100
PARKED_SHOWN = 20
NODES_SHOWN = 5000
FIRST_REPORT = """{%s"reportId": "7c9e6679-7425-40de-944b-e07fc1f90ae7", "observations": [
    {"method": "GET", "path": "/orders/{orderId}", "status": 200, "count": 1,
     "parameters": {"orderId": {"type": "integer"}},
     "response": {"type": "object",
      "properties": {"id": {"type": "integer"}, "paid": {"type": "boolean"}}}}]}"""


def catalog(request: HttpRequest, environment: Environment, range: Range) -> Page:
    filters = Filters.of(request.GET)
    found = queries.listed(environment, filters)
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
    tables = [exports.properties(shapes), exports.responses(found)]
    return Page("catalog/operation.html", lambda: shape_context(found, shapes, part), tables)


def shape_context(found: Operation, shapes: list[Shape], part: Shape) -> Mapping[str, Any]:
    rows = list(islice(nodes(part.evidence, observations=part.observations), NODES_SHOWN + 1))
    return {
        "operation": found,
        "shapes": shapes,
        "part": part,
        "nodes": folding(rows[:NODES_SHOWN]),
        "nodes_shown": NODES_SHOWN,
        "is_cut": len(rows) > NODES_SHOWN,
        "parameters": parameters_of(found),
    }
