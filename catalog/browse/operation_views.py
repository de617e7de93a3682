"""The page of one operation with its shapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpRequest

from affidavit import describe
from affidavit.operations import READS, Identity
from catalog.browse import exports
from catalog.browse.curl_command import build_curl_command
from catalog.browse.part_choice import choose_matching_part, list_other_matches
from catalog.browse.presence_counts import list_presence
from catalog.browse.queries import find_verified
from catalog.browse.tree_rows import TreeRow, build_rows, find_chosen_pointer, label_node
from catalog.browse.tree_search import find_nodes, find_search_example, find_unknown_nodes
from catalog.downloads.absent_properties import drop_marked, mark_descriptor, mark_outline
from catalog.downloads.default_hints import derive_hints
from catalog.downloads.queries import find_operation_name
from catalog.downloads.schemas.json_schema import build_part_schema
from catalog.downloads.tools import build_tool
from catalog.drift.exports import export_changes, export_versions
from catalog.drift.presence.absence_counters import find_absence_states
from catalog.drift.presence.current_presence import find_probably_gone, list_no_longer_seen
from catalog.drift.presence.load_no_longer_seen import find_absent_properties
from catalog.drift.presence.property_counts import count_properties
from catalog.drift.queries import find_latest_changes
from catalog.drift.version_comparison import compare_versions, has_version
from catalog.drift.version_timeline import build_timeline, fold_media_types
from catalog.evidence.active_resets import find_part_reset
from catalog.evidence.days import ObservedDays, find_days, find_gap, load_days
from catalog.evidence.nodes import Node
from catalog.evidence.parts import PartShape, build_part_shapes, list_parameters, list_part_nodes
from catalog.evidence.unobserved_resets import count_before_reset, find_unobserved_reset, list_unobserved_bodies
from catalog.models import BaselineReset, HintRule, MapRule, Operation
from catalog.operation_queries import find_operation
from catalog.rules.errors import NO_CHANGE
from catalog.rules.hint_rules import list_operation_hints
from catalog.rules.reported_templates import build_template_context
from catalog.shape_pointers import VALUES
from wire.address_members import read_text
from wire.errors import NotFound
from wire.search_words import read_search_words
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page

MAX_TOOL_LENGTH = 20_000  # characters; a longer definition is in the download only
MAX_ROWS = 1000  # rows of the tree
MAX_SCHEMA_NODES = 400  # nodes of a shape whose JSON Schema is shown; a longer one is in the download only


def show_operation(
    request: HttpRequest, environment: Environment, period: Period, *, verifications: Mapping[Identity, datetime]
) -> Page:
    """Show one operation with its shapes. Raises NotFound if the environment has no such operation.

    verifications: when each operation was last verified, by the method and path that backends reported.
    """
    operation = require_operation(request, environment)
    shapes = build_part_shapes(operation)
    words = read_search_words(read_text(request.GET, "find"))
    shows_unknown = request.GET.get("show") == "unknown"
    shape = choose_matching_part(words, shapes, request.GET.get("part", ""), shows_unknown=shows_unknown)
    days = find_days(period)
    observed_days = load_days(operation, days) if days else None
    comparison = compare_versions(operation, request.GET)
    pointer = request.GET.get("at", "")

    def build_context() -> Mapping[str, Any]:
        nodes = list(list_part_nodes(shape))
        if pointer and request.htmx:  # type: ignore[attr-defined]  # django_htmx's middleware sets it
            return build_tree_context(request, operation, shape, nodes, observed_days, period, inside_only=True)
        resets = [reset for reset in operation.baseline_resets.all() if not reset.through_id]
        template, hints = build_template_context(operation, request.GET), list_hints(operation)
        timeline, media_types = build_timeline(operation), operation.count_media_types(shape.key)
        return {
            **build_tree_context(request, operation, shape, nodes, observed_days, period),
            **build_code_context(environment, operation),
            "operation": operation,
            "needs_confirmation": operation.method not in READS,
            "verified_at": find_verified(environment, verifications).get(operation.shown_under_id or operation.pk),
            "extent": count_properties(operation),
            "days": days,
            "observed": observed_days,
            "gap": find_gap(operation, days),
            "media_types": media_types,
            "without_media_type": max(count_calls(operation, shape) - sum(count for _, count in media_types), 0),
            "shapes": [(shape, count_observations(shape, observed_days)) for shape in shapes],
            "parameters": list_parameters(operation),
            "timeline": fold_media_types(timeline),
            "versions": [entry.version for entry in timeline],
            "comparison": comparison,
            "baseline_resets": resets,
            "baseline_reset": find_part_reset(operation, ""),
            "is_unobserved": find_unobserved_reset(operation) is not None,
            "before_reset": count_before_reset(operation),
            "may_act": has_role(request.user, environment.workspace, Membership.EDITOR),
            "map_rules": operation.map_rules.all(),
            "template": template,
            "hints": hints,
            "open_overrides": {
                "template": bool(template["rules"] or template["fault"]),
                "baseline": bool(resets),
                "hints": any(hint["rule"] for hint in hints),
            },
            "refused": NO_CHANGE.get(request.GET.get("refused", "")),
            "selected": build_node_context(operation, shape, nodes, pointer),
            "other_matches": list_other_matches(words, shapes, shape),
        }

    tables = [
        exports.export_properties(shapes, observed_days, words),
        exports.export_responses(operation),
        export_versions(operation),
        export_changes(comparison),
    ]
    branch = "catalog/_partials/branch.html" if pointer else ""
    takes: Mapping[str, Callable[[str], object]] = {
        **dict.fromkeys(("before", "after"), partial(has_version, operation)),
        "show": {"unknown"}.__contains__,
        "as": {"reported"}.__contains__,
    }
    return Page("catalog/operation.html", build_context, tables, partial=branch, takes=takes, searches=("find",))


def require_operation(request: HttpRequest, environment: Environment) -> Operation:
    """Return the operation that the address names; raises NotFound if there is none."""
    method, path = read_text(request.GET, "method").upper(), read_text(request.GET, "path")
    operation = find_operation(environment, method, path, as_reported=request.GET.get("as") == "reported")
    if operation is None:
        detail = (
            "This environment has no such operation. Look for it in the catalog or in another environment,"
            " or report an observation of it."
        )
        raise NotFound(detail)
    return operation


def build_tree_context(
    request: HttpRequest,
    operation: Operation,
    shape: PartShape,
    nodes: Sequence[Node],
    observed_days: ObservedDays | None,
    period: Period,
    *,
    inside_only: bool = False,
) -> Mapping[str, Any]:
    """Return the rows of a shape, and its schema unless rows are closed or nodes are too many.

    If the first MAX_ROWS rows do not have the node `at`, the rows begin with this node.

    observed_days: the days of the period; None for all time.
    inside_only: whether to return only the rows beneath the node `at`, and no schema.
    """
    pointer = request.GET.get("at", "")
    open_branches = set(request.GET.getlist("open"))
    find = read_text(request.GET, "find").strip()
    matches = find_nodes(nodes, read_search_words(find)) if find else None
    to_open = [pointer, *(find_unknown_nodes(nodes) if request.GET.get("show") == "unknown" else ())]
    build = partial(
        build_rows,
        matches.nodes or nodes[:1] if matches else nodes,
        inside_only=inside_only,
        open_branches=open_branches,
        open_at_first={branch for node_pointer in to_open for branch in list_branches_of(node_pointer)},
        are_all_open=bool(matches),
        limit=MAX_ROWS,
    )
    tree_rows, is_cut = build(pointer=pointer if inside_only else "")
    if pointer and all(row.node.pointer != pointer for row in tree_rows):
        tree_rows, is_cut = build(pointer=pointer)
    in_period = observed_days.build_part(shape) if observed_days else None
    presence = list_presence([row.node for row in tree_rows], in_period)
    changes = find_latest_changes(operation, shape.key, period)
    states = find_absence_states(operation, shape.part)
    chosen = find_chosen_pointer(request.GET, nodes)
    absent_pointers = set(list_no_longer_seen(states))
    probably_gone = find_probably_gone(states, {node.pointer: node for node in nodes})
    rows = [
        replace(
            row,
            presence=presence[row.node.pointer],
            change=changes.get(row.node.pointer),
            is_vanished=row.node.pointer in absent_pointers,
            probably_gone=probably_gone.get(row.node.pointer),
            is_match=matches is not None and row.node.pointer in matches.pointers,
            is_best=matches is not None and bool(matches.best) and row.node.pointer == matches.best,
            is_chosen=row.node.pointer == chosen,
        )
        for row in tree_rows
    ]
    context = {
        "operation": operation,
        "part": shape,
        "rows": rows,
        "is_chosen_hidden": chosen is not None and not any(row.is_chosen for row in rows),
        "find": find,
        "find_example": find_search_example(nodes),
        "match_count": len(matches.pointers) if matches else None,
        "node_count": len(nodes) - 1,
        "root": TreeRow(nodes[0]) if nodes else None,
        "max_rows": MAX_ROWS,
        "is_cut": is_cut,
        "query_without_at": build_query_without(request, "at"),
    }
    if inside_only or len(nodes) > MAX_SCHEMA_NODES or any(row.is_closed for row in rows):
        return {**context, "schema": ""}
    absent = {
        absent_pointer: day
        for (key, absent_pointer), day in find_absent_properties(operation).items()
        if key == shape.key
    }
    descriptor = mark_descriptor(describe(shape.evidence, counts=False), absent)
    schema = build_part_schema(json.loads(operation.outline), shape.key, descriptor)
    text = json.dumps(schema, indent=2, ensure_ascii=False)
    return {**context, "schema": text, "is_any_allowed": "{}" in text}


def list_branches_of(pointer: str) -> list[str]:
    """Return the pointer and the pointers of all branches above it, without the root."""
    steps = pointer.split("/")
    return ["/".join(steps[: number + 1]) for number in range(1, len(steps))]


def count_observations(shape: PartShape, observed_days: ObservedDays | None) -> int:
    """Return how often a part could have been present in the period (PartShape.observations).

    observed_days: None for all time.
    """
    return observed_days.count_observations(shape) if observed_days else shape.observations


def count_calls(operation: Operation, shape: PartShape) -> int:
    """Return how often a part could have had a media type: in all time, whatever baseline resets hide."""
    return dict(operation.status_counts)[shape.part.status] if shape.part.status else operation.successes


def build_node_context(
    operation: Operation, shape: PartShape, nodes: Sequence[Node], pointer: str
) -> Mapping[str, Any]:
    """Return the node that the address names, else the root, with its map rule and its latest reset in force, if any.

    has_keys: whether some keys observed in the node are data, not names of properties.
    """
    by_pointer = {node.pointer: node for node in nodes}
    node = by_pointer.get(pointer, nodes[0])
    has_keys = not node.map_names and f"{node.pointer}/{VALUES}" in by_pointer
    rule, reset = find_map_rule(operation, shape, node), find_reset(operation, shape, node)
    return {"node": node, "label": label_node(node), "rule": rule, "reset": reset, "has_keys": has_keys}


def list_hints(operation: Operation) -> list[Mapping[str, Any]]:
    """Return each hint of the operation's tool with its value, and the rule in force that set it, if any."""
    rules = {rule.hint: rule for rule in reversed(list_operation_hints(operation))}
    default_values = derive_hints(operation.method)
    return [
        {
            "name": hint,
            "label": label,
            "value": rules[hint].value if hint in rules else default_values[hint],
            "rule": rules.get(hint),
        }
        for hint, label in HintRule.LABELS.items()
    ]


def find_map_rule(operation: Operation, shape: PartShape, node: Node) -> MapRule | None:
    for rule in operation.map_rules.all():
        if rule.undone_at is None and (rule.part, rule.pointer) == (shape.key, node.pointer):
            return rule
    return None


def find_reset(operation: Operation, shape: PartShape, node: Node) -> BaselineReset | None:
    """Return the latest reset of exactly this node that was made on this operation and not undone."""
    resets = (reset for reset in operation.baseline_resets.all() if reset.undone_at is None and not reset.through_id)
    of_node = [reset for reset in resets if (reset.part, reset.pointer) == (shape.key, node.pointer)]
    return max(of_node, key=lambda reset: reset.epoch, default=None)


def build_code_context(environment: Environment, operation: Operation) -> Mapping[str, Any]:
    """Return a call of the operation as a curl command, and its tool definition unless that is too long to read."""
    absent, unobserved = find_absent_properties(operation), list_unobserved_bodies(operation)
    outline = drop_marked(mark_outline(json.loads(operation.outline), absent, unobserved))
    tool = build_tool(find_operation_name(environment, outline), outline)
    definition = json.dumps(tool, indent=2, ensure_ascii=False)
    is_short = len(definition) <= MAX_TOOL_LENGTH
    return {"curl": build_curl_command(outline), "tool": definition if is_short else ""}


def build_query_without(request: HttpRequest, name: str) -> str:
    members = request.GET.copy()
    members.pop(name, None)
    return members.urlencode()
