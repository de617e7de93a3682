"""Detect maps by their values: many rare names whose values are of one kind (contract §4).

This is a pure rule and changes no evidence: an object is only shown as a map, and later evidence may show its
properties again. In doubt an object is a record: a record shown as a map loses its names, while a map shown as a record
is only long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .evidence import Evidence

# For values that are objects: similar properties are a sign by themselves.
MIN_NAMES = 20
MAX_SHARE = 0.25  # a name that a larger share of the objects has is a property, not a key
MIN_COMMON = 2  # properties that most values have; with fewer, values may only share a wrapper
ALIKE_SHARE = 0.5  # the least share of properties that each value has in common with most values
# For scalars, which are similar in ordinary records too: only very many and very rare names are keys.
MIN_NAMES_OF_SCALARS = 64
MAX_SHARE_OF_SCALARS = 0.05

_SAY_NOTHING = frozenset({"null", "empty"})
_MIXED = "mixed"


def is_alike_map(evidence: Evidence) -> bool:
    """Return whether the names here are keys of a map, by their values and by how rare each name is."""
    objects = evidence.counts.get("object", 0)
    if len(evidence.properties) < MIN_NAMES or not objects:
        return False
    children = list(evidence.properties.values())
    share = max(child.seen for child in children) / objects
    if share > MAX_SHARE or len({child.redacted for child in children}) > 1:
        return False
    typed_children = [child for child in children if _name_kind(child)]
    values = typed_children if evidence.values is None else [*typed_children, evidence.values]
    kinds = {_name_kind(value) for value in values} - {""}
    if len(kinds) != 1 or _MIXED in kinds:
        return False
    if kinds.pop().endswith("object"):
        return len(typed_children) >= MIN_NAMES and _have_alike_properties(values)
    return len(typed_children) >= MIN_NAMES_OF_SCALARS and share <= MAX_SHARE_OF_SCALARS


def _have_alike_properties(values: Sequence[Evidence]) -> bool:
    """Return whether each value has about the same properties, and each property has one type."""
    shapes = [_map_kinds(value) for value in values]
    times = Counter(name for shape in shapes for name in shape)
    if any(len(kinds) > 1 for kinds in _group_kinds_by_name(shapes).values()):
        return False
    common = {name for name, count in times.items() if 2 * count >= len(shapes)}
    return len(common) >= MIN_COMMON and all(
        len(common & shape.keys()) >= ALIKE_SHARE * len(common | shape.keys()) for shape in shapes
    )


def _group_kinds_by_name(shapes: Sequence[dict[str, str]]) -> dict[str, set[str]]:
    kinds: dict[str, set[str]] = {}
    for shape in shapes:
        for name, kind in shape.items():
            if kind:
                kinds.setdefault(name, set()).add(kind)
    return kinds


def _map_kinds(value: Evidence) -> dict[str, str]:
    """Return the kinds of the properties of an object, or of the objects in an array, by name."""
    while value.items is not None and "array" in value.counts:
        value = value.items
    return {name: _name_kind(child) for name, child in value.properties.items()}


def _name_kind(evidence: Evidence) -> str:
    """Return `object`, `array of string` and so on; "" if no type was seen, `mixed` if types differ."""
    kinds = {"number" if kind == "integer" else kind for kind in evidence.counts} - _SAY_NOTHING
    if not kinds:
        return ""
    if len(kinds) > 1 or not kinds.isdisjoint({"limit", "divergent"}):
        return _MIXED
    (kind,) = kinds
    if kind == "object":
        return kind if evidence.properties or evidence.values is not None else ""
    if kind == "array":
        inner = "" if evidence.items is None else _name_kind(evidence.items)
        return inner if inner in ("", _MIXED) else f"array of {inner}"
    return kind
