"""The pages of the catalog: the list of operations, and one operation with its shapes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from affidavit import describe
from catalog import queries
from catalog.browse import exports
from catalog.browse.filters import SHOWS, SORTED_COLUMNS, STATUS_CLASSES, Filters
from catalog.browse.tree_rows import Node, folded, list_part_nodes
from catalog.downloads.curl import curl
from catalog.downloads.json_schema import schema_of
from catalog.downloads.tools import tool
from catalog.drift import history
from catalog.evidence.parts import PartShape, build_part_shapes, choose_part, list_parameters
from catalog.evidence.pointers import VALUES
from catalog.models import Operation
from catalog.rules.reported_templates import build_template_context
from wire.errors import NotFound
from wire.period import Period
from workspaces.models import Environment
from workspaces.page import Page

OPERATIONS_A_PAGE = 100
PARKED_SHOWN = 20
TOOL_SHOWN = 20_000  # characters; a longer definition is in the download only
NODES_SHOWN = 1000  # rows; what large places hold comes when they are opened
# The downloads of contract 5, by the name of their address.
FORMS = (("catalog-openapi", "OpenAPI"), ("catalog-schemas", "JSON Schema"), ("catalog-tools", "Tool definitions"))
FIRST_REPORT = """{%s"reportId": "7c9e6679-7425-40de-944b-e07fc1f90ae7", "observations": [
    {"method": "GET", "path": "/orders/{orderId}", "status": 200, "count": 1,
     "parameters": {"orderId": {"type": "integer"}},
     "response": {"type": "object",
      "properties": {"id": {"type": "integer"}, "paid": {"type": "boolean"}}}}]}"""


def catalog(request: HttpRequest, environment: Environment, period: Period) -> Page:
    filters = Filters.of(request.GET)
    found = queries.listed(environment, period, filters)
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


def operation(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Raises NotFound where the environment has no such operation."""
    method, path = (request.GET.get(name, "").replace("\0", "") for name in ("method", "path"))
    as_reported = request.GET.get("as") == "reported"
    found = queries.operation(environment, method.upper(), path, as_reported=as_reported)
    if found is None:
        detail = (
            "This environment has no such operation. Look for it in the catalog or in another environment,"
            " or report an observation of it."
        )
        raise NotFound(detail)
    shapes = build_part_shapes(found)
    part = choose_part(shapes, request.GET.get("part", ""))
    compared = history.compared(found, request.GET)
    tables = [
        exports.properties(shapes),
        exports.responses(found),
        exports.versions(found),
        exports.changes(compared),
    ]

    at = request.GET.get("at", "")

    def context() -> Mapping[str, Any]:
        rows = list(list_part_nodes(part))
        if at and request.htmx:
            return tree_context(request, part, rows, at, inside_only=True)
        return {
            **tree_context(request, part, rows, at),
            **call_context(environment, found),
            "operation": found,
            "shapes": shapes,
            "parameters": list_parameters(found),
            "timeline": history.timeline(found),
            "compared": compared,
            "fresh_starts": [start for start in found.baseline_resets.all() if not start.through_id],
            "map_rules": found.map_rules.all(),
            "template": build_template_context(found, request.GET),
            "place": place_of(found, part.key, rows, at),
        }

    partial = "catalog/_partials/inside.html" if at else ""
    return Page("catalog/operation.html", context, tables, partial=partial)


def tree_context(
    request: HttpRequest, part: PartShape, rows: Sequence[Node], at: str, *, inside_only: bool = False
) -> Mapping[str, Any]:
    """The rows of a part from the place `at` on; its schema where all of it is shown."""
    shown, is_cut = folded(rows, at=at, inside_only=inside_only, limit=NODES_SHOWN)
    context = {"part": part, "nodes": shown, "at": at, "nodes_shown": NODES_SHOWN, "is_cut": is_cut}
    context["elsewhere"] = query_without(request, "at")
    if len(shown) < len(rows):
        return context
    schema = schema_of(describe(part.evidence, counts=False))
    return {**context, "schema": json.dumps(schema, indent=2, ensure_ascii=False)}


def place_of(operation: Operation, key: str, rows: Sequence[Node], at: str) -> Mapping[str, Any]:
    """The place that an address names, else the root: its node, the map rule that holds there, if any, and whether
    keys that are data were seen in it."""
    places = {node.pointer: node for node in rows}
    node = places.get(at, rows[0])
    standing = (rule for rule in operation.map_rules.all() if not rule.reverted_at)
    rule = next((rule for rule in standing if (rule.part, rule.pointer) == (key, node.pointer)), None)
    return {"node": node, "rule": rule, "has_keys": not node.names and f"{node.pointer}/{VALUES}" in places}


def call_context(environment: Environment, operation: Operation) -> Mapping[str, Any]:
    """How the operation is called: a line for a shell, and the definition of a tool unless it is too long to read."""
    outline = json.loads(operation.outline)
    definition = json.dumps(tool(queries.tool_name(environment, outline), outline), indent=2, ensure_ascii=False)
    return {"curl": curl(outline), "tool": definition if len(definition) <= TOOL_SHOWN else ""}


def query_without(request: HttpRequest, name: str) -> str:
    members = request.GET.copy()
    members.pop(name, None)
    return members.urlencode()
