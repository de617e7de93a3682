"""Infer evidence from values in one pass, redaction included (contract §4).

Only the type of a scalar is read, so the result is the same whether it was erased before or not, and no value is
kept. Most values of real bodies are in arrays of many similar objects: these are counted name by name, all values of
one name at once. Everything else is counted value by value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeAlias

from affidavit._json import Json

from .evidence import MAX_DEPTH, MAX_NAMES, Evidence
from .redaction import DEFAULT, Redactor

Typed: TypeAlias = Any
"""A JSON value in this module; its kind says which type it has. The type checker cannot follow that."""

_KINDS: dict[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null",
    list: "array", dict: "object",
}  # fmt: skip
_CUT = dict.fromkeys(_KINDS, "limit")  # every kind below the deepest level
_SCALARS = frozenset(_KINDS) - {list, dict}


def infer(value: Json, *, redactor: Redactor | None = DEFAULT, day: int | None = None) -> Evidence:
    """Return the evidence of one value.

    day: when the value was seen, in days since 1970-01-01 UTC.
    """
    evidence = Evidence()
    observe(evidence, value, redactor=redactor)
    if day is not None:
        evidence.stamp(day)
    return evidence


def observe(evidence: Evidence, value: Json, *, redactor: Redactor | None = DEFAULT) -> None:
    """Add one value to `evidence` in place: faster than `evidence.add(infer(value))`, with the same result.

    Use the same redactor for all values of an evidence, because a name in the evidence is not judged again.
    """
    if redactor is not None and redactor.replace is not None:
        value = redactor.replace(value)
    _count_value(evidence, value, 1, redactor)


def _count_value(evidence: Evidence, value: Typed, level: int, redactor: Redactor | None) -> None:
    """Count one value at `level`, and everything in it."""
    kind = _find_kind(value, _KINDS if level <= MAX_DEPTH else _CUT)
    evidence.count(kind)
    if kind == "object":
        _count_object(evidence, value, level + 1, redactor)
    elif kind == "array" and value:
        _count_items(evidence, value, level + 1, redactor)


def _count_object(evidence: Evidence, members: dict[str, Typed], level: int, redactor: Redactor | None) -> None:
    """Count the members of one object, each under its name.

    All members of an object that is counted by itself go through this loop. `_count_value`, `_find_kind` and
    `Evidence.count` are inlined, because calling them took longer than their work.
    """
    kinds = _KINDS if level <= MAX_DEPTH else _CUT
    properties = evidence.properties
    for name, value in members.items():
        child = properties.get(name)
        if child is None:
            child = _open_new_property(evidence, name, redactor)
            if child is None:
                continue
        try:
            kind = kinds[type(value)]
        except KeyError:
            kind = _find_kind(value, kinds)
        if child._kind == kind:
            child._times += 1
        else:
            child.count(kind)
        if kind == "object":
            _count_object(child, value, level + 1, redactor)
        elif kind == "array" and value:
            _count_items(child, value, level + 1, redactor)


def _count_items(evidence: Evidence, items: Sequence[Typed], level: int, redactor: Redactor | None) -> None:
    """Count the items of arrays at one position.

    items: the items, at least one.
    """
    inner = evidence.items
    if inner is None:
        inner = evidence.items = Evidence()
    if len(items) == 1:
        _count_value(inner, items[0], level, redactor)
    else:
        _count_all(inner, items, {type(item) for item in items}, level, redactor)


def _count_all(
    evidence: Evidence, values: Sequence[Typed], types: set[type], level: int, redactor: Redactor | None
) -> None:
    """Count several values of one position, type by type."""
    kinds = _KINDS if level <= MAX_DEPTH else _CUT
    for value_type in types:
        alike: Sequence[Typed] = values if len(types) == 1 else [value for value in values if type(value) is value_type]
        kind = _find_kind(alike[0], kinds)
        evidence.count(kind, len(alike))
        if kind == "object":
            _count_objects(evidence, alike, level + 1, redactor)
        elif kind == "array":
            items = [*chain.from_iterable(alike)]
            if items:
                _count_items(evidence, items, level + 1, redactor)


def _count_objects(
    evidence: Evidence, objects: Sequence[dict[str, Typed]], level: int, redactor: Redactor | None
) -> None:
    """Count the members of objects at one position: by name if all have the same names, else object by object."""
    types = _group_types_by_name(objects)
    if types is None:
        for members in objects:
            _count_object(evidence, members, level, redactor)
        return
    kinds = _KINDS if level <= MAX_DEPTH else _CUT
    for name, value_types in types.items():
        child = evidence.properties.get(name) or _open_new_property(evidence, name, redactor)
        if child is None:
            continue
        if len(value_types) == 1 and value_types <= _SCALARS:
            child.count(kinds[next(iter(value_types))], len(objects))
        else:
            _count_all(child, [members[name] for members in objects], value_types, level, redactor)


def _group_types_by_name(objects: Sequence[dict[str, Json]]) -> dict[str, set[type]] | None:
    """Return the types of the values under each name; None unless all objects have the same names."""
    names = objects[0]
    if sum(map(len, objects)) != len(names) * len(objects):
        return None
    try:
        return {name: {type(members[name]) for members in objects} for name in names}
    except KeyError:
        return None


def _open_new_property(evidence: Evidence, name: str, redactor: Redactor | None) -> Evidence | None:
    """Return the evidence in which to count a new name; None if the name is dropped."""
    if redactor is None:
        return evidence.open_property(name)
    properties = evidence.properties
    if name in redactor.plain_names and len(properties) < MAX_NAMES and not evidence.collapsed:
        child = properties[name] = Evidence()  # like `open_property`, without judging the name again
        return child
    if redactor.drops(name):
        return None
    child = evidence.open_property(name)
    if redactor.is_sensitive(name):
        child.redacted = True
    return child


def _find_kind(value: object, kinds: dict[type, str]) -> str:
    """Return the kind of a value by its type, or by the JSON type of which its type is a subclass. Raises TypeError."""
    kind = kinds.get(type(value))
    if kind is not None:
        return kind
    for base in kinds:
        if isinstance(value, base):
            return kinds[base]
    raise TypeError(f"{type(value).__name__} is not a JSON type")
