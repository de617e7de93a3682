"""The page of one operation with its shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpRequest

from affidavit.operations import READS, Identity
from catalog.browse.operation import exports
from catalog.browse.operation.code_examples import build_code_context
from catalog.browse.operation.overrides_in_force import find_map_rule, find_reset, list_hints
from catalog.browse.operation.part_choice import choose_matching_part, list_other_matches
from catalog.browse.operation.shape_tree import build_tree_context
from catalog.browse.operation.tree_rows import label_node
from catalog.browse.operation.unknown_operation import explain_unknown_operation
from catalog.browse.queries import find_verified
from catalog.drift.exports import export_changes, export_versions
from catalog.drift.presence.property_counts import count_properties
from catalog.drift.version_comparison import compare_versions, has_version
from catalog.drift.version_timeline import build_timeline, fold_media_types
from catalog.evidence.active_resets import find_part_reset
from catalog.evidence.nodes import Node
from catalog.evidence.observed_days import ObservedDays, find_days, find_gap, load_days
from catalog.evidence.parts import PartShape, build_part_shapes, list_parameters, list_part_nodes
from catalog.evidence.unobserved_resets import count_before_reset, find_unobserved_reset
from catalog.models import Operation
from catalog.operation_queries import find_operation
from catalog.rules.errors import NO_CHANGE
from catalog.rules.reported_templates import build_template_context
from catalog.shape_pointers import VALUES
from wire.address_members import read_text
from wire.text.search_words import read_search_words
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page


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
    as_reported = request.GET.get("as") == "reported"
    operation = find_operation(environment, method, path, as_reported=as_reported)
    if operation is None:
        raise explain_unknown_operation(environment, method, path, as_reported=as_reported)
    return operation


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
