"""Evidence: the counts behind a shape, and their sum (contract §4).

Merging is a sum: associative, commutative, with `Evidence()` as identity, so that any order, batching or number of
workers gives the same result. The type of a shape is computed from the sum (`describe`) and never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from affidavit._data_detection import is_data
from affidavit._json import Json

KINDS = (
    "string", "number", "integer", "boolean", "array", "object", "limit", "divergent", "empty", "null",
)  # fmt: skip
MAX_NAMES = 200  # an object with more names than this is a map
MAX_DEPTH = 32  # the outermost value is level 1; deeper values count as "limit"


class Evidence:
    """The counts of each kind of value at one position of a body, and at every position inside it.

    items: the evidence of the items of all arrays here; None if no item was seen.
    properties: the evidence of each name.
    values: the evidence of all names that are data, added up.
    collapsed: whether more than `MAX_NAMES` names were seen, so that the evidence of all names is in `values`.
    redacted: whether the name of this position is sensitive.
    binary: whether files were seen here, as parts of forms.
    first, last: the first and the last day on which a value was seen here, in days since 1970-01-01 UTC.
    """

    __slots__ = (
        "_kind", "_others", "_times", "binary", "collapsed", "first", "items", "last", "properties", "redacted",
        "values",
    )  # fmt: skip

    def __init__(self) -> None:
        # Most positions only ever have one kind: it is counted here, and only further kinds need a dictionary.
        self._kind: str | None = None
        self._times = 0
        self._others: dict[str, int] | None = None
        self.items: Evidence | None = None
        self.properties: dict[str, Evidence] = {}
        self.values: Evidence | None = None
        self.redacted = self.collapsed = self.binary = False
        self.first: int | None = None
        self.last: int | None = None

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the number of values by kind (`KINDS`), as a copy.

        A kind has the count 0 if its reporter named it without counting. The kind `limit` counts values that a limit
        cut. The kinds `divergent` and `empty` count values for which a reporter sent only this word.
        """
        if self._kind is None:
            return {}
        first = {self._kind: self._times}
        return first if self._others is None else first | self._others

    @counts.setter
    def counts(self, counts: Mapping[str, int]) -> None:
        self._kind, self._times, self._others = None, 0, None
        for kind, times in counts.items():
            self.count(kind, times)

    def count(self, kind: str, times: int = 1) -> None:
        """Count more values of one kind here."""
        if self._kind is None:
            self._kind, self._times = kind, times
        elif self._kind == kind:
            self._times += times
        elif self._others is None:
            self._others = {kind: times}
        else:
            self._others[kind] = self._others.get(kind, 0) + times

    @property
    def seen(self) -> int:
        """Return the number of values observed here."""
        return self._times + sum(self._others.values()) if self._others else self._times

    @property
    def is_blank(self) -> bool:
        """Return whether nothing is known here or inside."""
        has_marks = self.redacted or self.collapsed or self.binary or self.first is not None
        return not (self._kind or has_marks or self.properties) and all(child.is_blank for child in self.children())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evidence) and self.to_state() == other.to_state()

    def __repr__(self) -> str:
        return f"Evidence({self.to_state()!r})"

    def open_property(self, name: str) -> Evidence:
        """Return the evidence for the values of `name`: its own, or `values` if its name is not kept."""
        child = self.properties.get(name)
        if child is not None:
            return child
        if self._keeps_name(name):
            child = self.properties[name] = Evidence()
            return child
        if self.values is None:
            self.values = Evidence()
        return self.values

    def take_property(self, name: str, child: Evidence) -> None:
        """Add `child`, the evidence for the values of `name`. From now on `child` belongs to this evidence.

        `child` is copied only if it is added to other evidence: a copy per level would multiply the work by the depth.
        """
        if name not in self.properties and self._keeps_name(name):
            self.properties[name] = child
        elif name not in self.properties and self.values is None:
            self.values = child
        else:
            self.open_property(name).add(child)

    def _keeps_name(self, name: str) -> bool:
        """Return whether a new name is kept; collapse if it is one too many."""
        if self.collapsed or is_data(name):
            return False
        if len(self.properties) == MAX_NAMES:
            self.collapse()
            return False
        return True

    def collapse(self) -> None:
        """Forget all names of this object for ever, and add their evidence to `values`."""
        self.collapsed = True
        for child in self.properties.values():
            self.values = _add_into(self.values, child)
        self.properties.clear()

    def add(self, other: Evidence) -> None:
        """Add `other` to this evidence in place. `other` is not changed, and no part of `other` is shared."""
        for kind, times in other.counts.items():
            self.count(kind, times)
        self.redacted = self.redacted or other.redacted
        self.binary = self.binary or other.binary
        self.first = _choose_present(min, self.first, other.first)
        self.last = _choose_present(max, self.last, other.last)
        if other.items is not None:
            self.items = _add_into(self.items, other.items)
        if other.values is not None:
            self.values = _add_into(self.values, other.values)
        if other.collapsed and not self.collapsed:
            self.collapse()
        for name, child in other.properties.items():
            self.open_property(name).add(child)

    def copy(self) -> Evidence:
        """Return an equal evidence that shares nothing with this one."""
        return _add_into(None, self)

    def stamp(self, day: int) -> None:
        """Record that everything in here was seen on `day`, in days since 1970-01-01 UTC."""
        self.first = _choose_present(min, self.first, day)
        self.last = _choose_present(max, self.last, day)
        for child in self.children():
            child.stamp(day)

    def children(self) -> Iterator[Evidence]:
        """Yield the evidence of items, properties and values, without their own children."""
        if self.items is not None:
            yield self.items
        yield from self.properties.values()
        if self.values is not None:
            yield self.values

    def close(self) -> Evidence:
        """Return a copy without children, in which every kind but null is counted as `limit`."""
        result = self._copy_marks()
        nulls = self.counts.get("null")
        result.count("limit", self.seen - (nulls or 0))
        if nulls is not None:
            result.count("null", nulls)
        return result

    def cut(self, levels: int) -> Evidence:
        """Return a copy of the first `levels` levels (at least 1). On the last one, nodes with children are closed."""
        if levels == 1:
            return self.close() if any(True for _ in self.children()) else self.copy()
        result = self._copy_marks()
        result.counts, result.collapsed = self.counts, self.collapsed
        result.items = self.items and self.items.cut(levels - 1)
        result.values = self.values and self.values.cut(levels - 1)
        result.properties = {name: child.cut(levels - 1) for name, child in self.properties.items()}
        return result

    def _copy_marks(self) -> Evidence:
        """Return a new evidence with the marks and days of this one, without counts and children."""
        bare = Evidence()
        bare.redacted, bare.binary, bare.first, bare.last = self.redacted, self.binary, self.first, self.last
        return bare

    def to_state(self) -> dict[str, Json]:
        """Return a compact, lossless form for storage. Equal evidence has the same bytes."""
        state: dict[str, Json] = {}
        if counts := self.counts:
            state["counts"] = {kind: counts[kind] for kind in KINDS if kind in counts}
        for name, child in (("items", self.items), ("values", self.values)):
            if child is not None and (inner := child.to_state()):
                state[name] = inner
        if self.properties:
            state["properties"] = {name: self.properties[name].to_state() for name in sorted(self.properties)}
        if self.redacted:
            state["redacted"] = True
        if self.collapsed:
            state["collapsed"] = True
        if self.binary:
            state["binary"] = True
        if self.first is not None:
            state["days"] = [self.first, self.last]
        return state

    @classmethod
    def from_state(cls, state: Any) -> Evidence:
        """Return the evidence that `to_state` wrote. The state is not checked: it comes from our own storage."""
        evidence = cls()
        evidence.counts = state.get("counts", {})
        evidence.items = cls.from_state(state["items"]) if "items" in state else None
        evidence.values = cls.from_state(state["values"]) if "values" in state else None
        evidence.properties = {
            name: cls.from_state(child_state) for name, child_state in state.get("properties", {}).items()
        }
        evidence.redacted = "redacted" in state
        evidence.collapsed = "collapsed" in state
        evidence.binary = "binary" in state
        evidence.first, evidence.last = state.get("days", (None, None))
        return evidence


def merge(a: Evidence, b: Evidence) -> Evidence:
    """Return the sum of two evidences, as a new one (contract §4)."""
    total = a.copy()
    total.add(b)
    return total


def _add_into(total: Evidence | None, part: Evidence) -> Evidence:
    """Add `part` to `total` in place, or to a new evidence if `total` is None. Return the total."""
    total = total or Evidence()
    total.add(part)
    return total


def _choose_present(choose: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return a if b is None else b
    return choose(a, b)
