"""The tree of a shape on the page of an operation, and the JSON Schema beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.http import HttpRequest

from affidavit import describe
from catalog.browse.operation.presence_counts import list_presence
from catalog.browse.operation.tree_rows import build_rows, find_chosen_pointer
from catalog.browse.operation.tree_search import find_nodes, find_search_example, find_unknown_nodes
from catalog.downloads.absent_properties import mark_descriptor
from catalog.downloads.schemas.json_schema import build_part_schema
from catalog.drift.presence.current_presence import find_probably_gone, list_no_longer_seen
from catalog.drift.presence.load_no_longer_seen import find_no_longer_seen_of
from catalog.drift.presence.stored_absences import find_absence_states
from catalog.drift.queries import find_latest_changes
from catalog.evidence.nodes import Node
from catalog.evidence.observed_days import ObservedDays
from catalog.evidence.parts import PartShape
from catalog.models import Operation
from wire.address_members import read_text
from wire.text.search_words import read_search_words
from wire.time.period import Period

MAX_ROWS = 1000  # rows of the tree
MAX_SCHEMA_NODES = 400  # nodes of a shape whose JSON Schema is shown; a longer one is in the download only


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
            root=nodes[0],
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
        "max_rows": MAX_ROWS,
        "is_cut": is_cut,
        "query_without_at": build_query_without(request, "at"),
    }
    if inside_only or len(nodes) > MAX_SCHEMA_NODES or any(row.is_closed for row in rows):
        return {**context, "schema": ""}
    absent = {
        absent_pointer: day
        for (key, absent_pointer), day in find_no_longer_seen_of(operation).items()
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


def build_query_without(request: HttpRequest, name: str) -> str:
    members = request.GET.copy()
    members.pop(name, None)
    return members.urlencode()
