"""Describe evidence as a descriptor. Equal evidence gives the same bytes (contract §4)."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any, TypeAlias

from .evidence import KINDS, MAX_DEPTH, Evidence

Descriptor: TypeAlias = dict[str, Any]
"""The wire form of a shape: `{"type": T, ...}`. Contract §4 lists its members."""

MAX_NODES = 5000
BINARY = "binary"  # the format of files in forms; there is no other format
WIRE_NAMES = {"limit": "unknown"}  # in `types`; all other kinds keep their name
_NO_TYPES = {"null", "limit", "divergent", "empty"}
_NO_EVIDENCE = Evidence()


def describe(evidence: Evidence, *, counts: bool = True, max_nodes: int | None = MAX_NODES) -> Descriptor:
    """Return the descriptor of `evidence`, members and properties in a fixed order.

    counts: whether to include `seen`, `nulls` and `types`; without them the descriptor changes only with the shape.
    max_nodes: the most nodes in the descriptor, those nearest to the root first; an object or array whose children do
        not fit is unknown (`limit`).

    With `counts` and `max_nodes=None`, a descriptor lacks only the first and the last day on which each value was seen.
    Apart from these days, `from_descriptor` is the inverse.
    """
    beyond = set() if max_nodes is None else _find_cut_nodes(evidence, max_nodes)
    return _describe(evidence, counts, beyond)


def fit(evidence: Evidence, max_bytes: int) -> Evidence:
    """Return `evidence` if its descriptor has at most `max_bytes` as JSON, else as many of its levels as fit."""
    if _measure_size(evidence) <= max_bytes:
        return evidence
    fitting, too_deep = 1, MAX_DEPTH + 1  # levels; one level is always kept
    while too_deep - fitting > 1:
        level = (fitting + too_deep) // 2
        if _measure_size(evidence.cut(level)) <= max_bytes:
            fitting = level
        else:
            too_deep = level
    return evidence.cut(fitting)


def _describe(evidence: Evidence, counts: bool, beyond: set[int]) -> Descriptor:
    if id(evidence) in beyond:
        evidence = evidence.close()
    descriptor, kind_counts = _project_type(evidence), evidence.counts
    if "null" in kind_counts and descriptor["type"] != "null":
        descriptor["nullable"] = True
    if evidence.redacted:
        descriptor["redacted"] = True
    if evidence.collapsed:
        descriptor["collapsed"] = True
    if evidence.binary:
        descriptor["format"] = BINARY
    if counts:
        descriptor |= _describe_counts(kind_counts)
    if evidence.items is not None or descriptor["type"] == "array":
        descriptor["items"] = _describe(evidence.items or _NO_EVIDENCE, counts, beyond)
    if evidence.properties:
        descriptor["properties"] = {
            name: _describe(evidence.properties[name], counts, beyond) for name in sorted(evidence.properties)
        }
    if evidence.values is not None:
        descriptor["values"] = _describe(evidence.values, counts, beyond)
    return descriptor


def _project_type(evidence: Evidence) -> Descriptor:
    """Return the members `type`, `reason` and `of` for the kinds that were seen."""
    kinds = evidence.counts.keys()
    types = {"number" if kind == "integer" else kind for kind in kinds} - _NO_TYPES
    if len(types) > 1 or "divergent" in kinds:
        return {"type": "unknown", "reason": "divergent"}
    if "limit" in kinds:
        return {"type": "unknown", "reason": "limit"}
    if types == {"object"} and not evidence.properties and evidence.values is None:
        return {"type": "unknown", "reason": "empty", "of": "object"}
    if types:
        return {"type": "number" if "number" in kinds else next(kind for kind in KINDS if kind in kinds)}
    if kinds == {"null"}:
        return {"type": "null"}
    return {"type": "unknown", "reason": "empty"}


def _describe_counts(counts: Mapping[str, int]) -> Descriptor:
    descriptor: Descriptor = {"seen": sum(counts.values())}
    if counts.get("null"):
        descriptor["nulls"] = counts["null"]
    kinds = [kind for kind in KINDS if kind in counts and kind != "null"]
    if len(kinds) > 1 or ("nulls" in descriptor and kinds and not counts[kinds[0]]):
        # More than one type; or nulls with a count, and one type without a count.
        descriptor["types"] = {WIRE_NAMES.get(kind, kind): counts[kind] for kind in kinds}
    return descriptor


def _list_children(evidence: Evidence) -> list[Evidence]:
    """Return the children of a node in the order of the descriptor. In a descriptor, an array always has items."""
    shows_items = evidence.items is not None or _project_type(evidence)["type"] == "array"
    items = [evidence.items or _NO_EVIDENCE] if shows_items else []
    values = [] if evidence.values is None else [evidence.values]
    return [*items, *(evidence.properties[name] for name in sorted(evidence.properties)), *values]


def _find_cut_nodes(root: Evidence, max_nodes: int) -> set[int]:
    """Return the ids of the nodes whose children exceed `max_nodes`, counted breadth first."""
    room = max_nodes - 1
    closed_ids: set[int] = set()
    queue = deque([root])
    while queue:
        node = queue.popleft()
        children = _list_children(node)
        if len(children) > room:
            closed_ids.add(id(node))
        else:
            room -= len(children)
            queue.extend(children)
    return closed_ids


def _measure_size(evidence: Evidence) -> int:
    """Return an upper bound for the bytes of the descriptor as JSON: non-ASCII characters count as escapes."""
    return len(json.dumps(_describe(evidence, True, set()), separators=(",", ":")))
