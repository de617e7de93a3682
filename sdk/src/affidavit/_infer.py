"""From values to evidence in one pass, with redaction inside (contract 4).

Nothing of a scalar but its type is looked at, so what comes out is the same whether it was erased before or
not, and no value is held at any time. `observe` adds in place: once a place is known, a further value costs a
lookup of its name, a lookup of its type and one addition.
"""

from __future__ import annotations

from ._evidence import MAX_DEPTH, Evidence
from ._json import Json
from ._redaction import DEFAULT, Redactor

_KINDS: dict[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null",
    list: "array", dict: "object",
}  # fmt: skip
_CUT = dict.fromkeys(_KINDS, "limit")  # whatever it is, it stands below the deepest level


def infer(value: Json, *, redactor: Redactor | None = DEFAULT, day: int | None = None) -> Evidence:
    """The evidence of one value. day: when it was seen, in days since 1970-01-01 UTC."""
    evidence = Evidence()
    observe(evidence, value, redactor=redactor)
    if day is not None:
        evidence.stamp(day)
    return evidence


def observe(evidence: Evidence, value: Json, *, redactor: Redactor | None = DEFAULT) -> None:
    """Add one value to `evidence` in place; the same as `evidence.add(infer(value))`, only faster.

    Feed one evidence with one redactor: a name that is known already is not judged again.
    """
    if redactor is not None and redactor.replace is not None:
        value = redactor.replace(value)
    _count(evidence, [value], 0, redactor)


def _count(place: Evidence, values: list[Json], level: int, redactor: Redactor | None) -> None:
    """Count `values`, which all stand in one place inside an array of `level`."""
    kinds = _KINDS if level < MAX_DEPTH else _CUT
    counts = place.counts
    for value in values:
        try:
            kind = kinds[type(value)]
        except KeyError:
            kind = kinds[_base(value)]
        try:
            counts[kind] += 1
        except KeyError:
            counts[kind] = 1
        if kind == "object":
            _count_members(place, value, level + 1, redactor)  # type: ignore[arg-type]  # its kind says dict
        elif kind == "array" and value:
            if place.items is None:
                place.items = Evidence()
            _count(place.items, value, level + 1, redactor)  # type: ignore[arg-type]  # its kind says list


def _count_members(place: Evidence, members: dict[str, Json], level: int, redactor: Redactor | None) -> None:
    """Count the members of one object of `level`, each in its own place."""
    kinds = _KINDS if level < MAX_DEPTH else _CUT
    known = place.properties
    for name, value in members.items():
        child = known.get(name)
        if child is None:
            child = _new_place(place, name, redactor)
            if child is None:
                continue
        try:
            kind = kinds[type(value)]
        except KeyError:
            kind = kinds[_base(value)]
        counts = child.counts
        try:
            counts[kind] += 1
        except KeyError:
            counts[kind] = 1
        if kind == "object":
            _count_members(child, value, level + 1, redactor)  # type: ignore[arg-type]  # its kind says dict
        elif kind == "array" and value:
            if child.items is None:
                child.items = Evidence()
            _count(child.items, value, level + 1, redactor)  # type: ignore[arg-type]  # its kind says list


def _new_place(place: Evidence, name: str, redactor: Redactor | None) -> Evidence | None:
    """Where a name that is not known yet is counted; None if it is to be dropped."""
    if redactor is None:
        return place.property(name)
    if redactor.drop and redactor.drops(name):
        return None
    child = place.property(name)
    if redactor.is_sensitive(name):
        child.redacted = True
    return child


def _base(value: object) -> type:
    """The JSON type of a value whose own type is a subclass of one."""
    for base in _KINDS:
        if isinstance(value, base):
            return base
    raise TypeError(f"{type(value).__name__} is not a JSON type")
