"""From evidence to its descriptor: a projection, the same for equal evidence byte for byte (contract 4)."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any, TypeAlias

from .evidence import KINDS, MAX_DEPTH, Evidence

Descriptor: TypeAlias = dict[str, Any]
"""The wire form of a shape: `{"type": T, ...}` as contract 4 lists its members."""

MAX_NODES = 5000
WIRE_NAMES = {"limit": "unknown"}  # in `types`; the other kinds go by their own name
_NO_TYPES = {"null", "limit", "divergent", "empty"}
_NOTHING = Evidence()


def describe(evidence: Evidence, *, counts: bool = True, max_nodes: int | None = MAX_NODES) -> Descriptor:
    """The descriptor of `evidence`; members and properties in a fixed order.

    counts: with `seen`, `nulls` and `types`; without them nothing is left that counting changes. max_nodes:
    nodes shown at most, nearest to the root first; an object or array whose inside does not fit is unknown
    (`limit`). Without a limit it is lossless but for the days: `from_descriptor` is its inverse.
    """
    beyond = set() if max_nodes is None else _beyond(evidence, max_nodes)
    return _describe(evidence, counts, beyond)


def fit(evidence: Evidence, max_bytes: int) -> Evidence:
    """`evidence` itself if its descriptor has at most `max_bytes` as JSON, else its first levels that fit."""
    if _size(evidence) <= max_bytes:
        return evidence
    fitting, too_deep = 1, MAX_DEPTH + 1  # levels; one level always stays
    while too_deep - fitting > 1:
        level = (fitting + too_deep) // 2
        if _size(evidence.cut(level)) <= max_bytes:
            fitting = level
        else:
            too_deep = level
    return evidence.cut(fitting)


def _describe(evidence: Evidence, counts: bool, beyond: set[int]) -> Descriptor:
    if id(evidence) in beyond:
        evidence = evidence.closed()
    shown, seen = _type(evidence), evidence.counts
    if "null" in seen and shown["type"] != "null":
        shown["nullable"] = True
    if evidence.redacted:
        shown["redacted"] = True
    if evidence.collapsed:
        shown["collapsed"] = True
    if counts:
        shown |= _counts(seen)
    if evidence.items is not None or shown["type"] == "array":
        shown["items"] = _describe(evidence.items or _NOTHING, counts, beyond)
    if evidence.properties:
        shown["properties"] = {
            name: _describe(evidence.properties[name], counts, beyond) for name in sorted(evidence.properties)
        }
    if evidence.values is not None:
        shown["values"] = _describe(evidence.values, counts, beyond)
    return shown


def _type(evidence: Evidence) -> Descriptor:
    """`type` with `reason` and `of`: what the kinds that were seen come to."""
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


def _counts(counts: Mapping[str, int]) -> Descriptor:
    shown: Descriptor = {"seen": sum(counts.values())}
    if counts.get("null"):
        shown["nulls"] = counts["null"]
    kinds = [kind for kind in KINDS if kind in counts and kind != "null"]
    if len(kinds) > 1 or ("nulls" in shown and kinds and not counts[kinds[0]]):
        # More than one type; or one that was only named, beside nulls that were counted.
        shown["types"] = {WIRE_NAMES.get(kind, kind): counts[kind] for kind in kinds}
    return shown


def _shown_inside(evidence: Evidence) -> list[Evidence]:
    """The nodes right under this one, in the order of the descriptor; an array always shows its items."""
    shows_items = evidence.items is not None or _type(evidence)["type"] == "array"
    items = [evidence.items or _NOTHING] if shows_items else []
    values = [] if evidence.values is None else [evidence.values]
    return [*items, *(evidence.properties[name] for name in sorted(evidence.properties)), *values]


def _beyond(root: Evidence, max_nodes: int) -> set[int]:
    """Nodes (by identity) whose children would be more than `max_nodes` in all, breadth first."""
    left = max_nodes - 1
    closed: set[int] = set()
    queue = deque([root])
    while queue:
        node = queue.popleft()
        children = _shown_inside(node)
        if len(children) > left:
            closed.add(id(node))
        else:
            left -= len(children)
            queue.extend(children)
    return closed


def _size(evidence: Evidence) -> int:
    """Bytes of the whole descriptor as JSON, at most: what is not ASCII is counted in its escaped form."""
    return len(json.dumps(_describe(evidence, True, set()), separators=(",", ":")))
