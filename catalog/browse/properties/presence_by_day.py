"""How often one property was present on each day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import groupby
from typing import Any

from affidavit.operations import Part, part_key
from catalog.browse.operation.presence_counts import Presence, list_presence
from catalog.evidence.nodes import Node
from catalog.evidence.observed_days import DaySpan, ObservedDays, load_days
from catalog.evidence.parts import PartShape, list_part_nodes
from catalog.evidence.type_names import SEVERAL_TYPES
from catalog.models import Operation, OperationDay
from catalog.shape_pointers import ITEMS, VALUES, property_name, split_pointer

DAY_COLUMNS = ("day", "seen", "parents", "type", "types", "nulls")
CHILDREN = ("items", "values", "properties")  # members of a stored state of evidence that hold its children


@dataclass(frozen=True)
class PropertyDay:
    """The observations of a property on one UTC day.

    type: the type on that day, "" if it was absent.
    types: the count of each type, if several were seen.
    """

    day: date
    presence: Presence
    type: str
    types: Mapping[str, int]
    nulls: int


def list_property_days(operation: Operation, shape: PartShape, node: Node, span: DaySpan) -> Iterator[PropertyDay]:
    """Yield the days of a span on which the operation was observed, the earliest first."""
    by_day: dict[date, dict[int, list[OperationDay]]] = {}
    for number, rows in load_days(operation, span).rows.items():
        for row in rows:
            row.evidence = _narrow_evidence(row.evidence, shape.part, node.pointer)
            by_day.setdefault(row.day, {}).setdefault(number, []).append(row)
    for day, rows_of_day in sorted(by_day.items()):
        yield _describe_day(ObservedDays(operation, rows_of_day), day, shape, node)


@dataclass(frozen=True)
class DayRun:
    """Consecutive observed days with the same types and share (or count, if no share is known).

    types: summed counts by type.
    """

    first: date
    last: date
    days: int
    presence: Presence
    type: str
    types: Mapping[str, int]
    nulls: int

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how often each type was observed, null among them; {} if there is only one."""
        counts = self.types or count_only_type(self.type, self.presence.seen, self.nulls)
        return counts if len(counts) > 1 else {}


def group_equal_days(days: Sequence[PropertyDay], node: Node, *, today: date) -> list[DayRun]:
    """Return the runs of equal days, in the order of `days`; a day that is not over is not joined with others."""

    def find_key(day: PropertyDay) -> Sequence[Any]:
        parents = day.presence.parents
        share = Fraction(day.presence.seen, parents) if parents else day.presence.seen
        return (day.day if day.day >= today else None, share, bool(parents), day.type, set(day.types), bool(day.nulls))

    groups = (list(group) for _, group in groupby(days, find_key))
    return [_sum_run(group, node) for group in groups]


def _sum_run(days: Sequence[PropertyDay], node: Node) -> DayRun:
    types: Counter[str] = Counter()
    for day in days:
        types.update(day.types)
    first, last = sorted((days[0].day, days[-1].day))
    nulls = sum(day.nulls for day in days)
    return DayRun(first, last, len(days), sum_presence(days, node), days[0].type, dict(types), nulls)


def list_day_cells(day: PropertyDay) -> Sequence[Any]:
    """Return the row of a day in downloads, in the order of DAY_COLUMNS."""
    return (day.day.isoformat(), day.presence.seen, day.presence.parents, day.type or None, dict(day.types), day.nulls)


def sum_presence(days: Sequence[PropertyDay], node: Node) -> Presence:
    """Return how often a property was present on these days together."""
    parents = None if node.parents is None else sum(day.presence.parents or 0 for day in days)
    return Presence(sum(day.presence.seen for day in days), parents)


def sum_types(days: Sequence[PropertyDay]) -> Mapping[str, int]:
    """Return how often each type was observed on these days together, null among them, the most frequent first."""
    counts: Counter[str] = Counter()
    for day in days:
        counts.update(count_types(day))
    return {name: number for name, number in counts.most_common() if number}


def count_types(day: PropertyDay) -> Mapping[str, int]:
    """Return how often each type was observed on a day, null among them."""
    return day.types or count_only_type(day.type, day.presence.seen, day.nulls)


def count_only_type(type_name: str, count: int, nulls: int) -> Mapping[str, int]:
    """Return the counts by type of a property that has one type, and perhaps null.

    The type is named by its first word: `array` for `array of string`.
    """
    if not type_name or type_name == "null":
        return {"null": count} if type_name else {}
    name = type_name if type_name == SEVERAL_TYPES else type_name.split()[0]
    return {"object" if name == "map" else name: count - nulls, **({"null": nulls} if nulls else {})}


def _describe_day(observed_days: ObservedDays, day: date, shape: PartShape, node: Node) -> PropertyDay:
    part = observed_days.build_part(shape)
    presence = list_presence([node], part)[node.pointer]
    day_node = next((other for other in list_part_nodes(part) if other.pointer == node.pointer), None)
    if day_node is None or not day_node.seen:
        return PropertyDay(day, presence, "", {}, 0)
    return PropertyDay(day, presence, day_node.type, day_node.types, day_node.nulls)


def _narrow_evidence(evidence: Mapping[str, Any], part: Part, pointer: str) -> Mapping[str, Any]:
    """Return only the branch of a part's stored evidence that leads to a node, so that no other is parsed."""
    key = part_key(part)
    return {key: narrow_state(evidence[key], split_pointer(pointer))} if key in evidence else {}


def narrow_state(state: Mapping[str, Any], steps: Sequence[str]) -> Mapping[str, Any]:
    """Return a stored state of evidence without the children that are not on the way to a node."""
    if not steps:
        return state
    step, next_steps = steps[0], steps[1:]
    branch = {name: value for name, value in state.items() if name not in CHILDREN}
    if step == ITEMS:
        names: Sequence[str] = ("items",)
    else:
        # The values of a map are summed over all of its names.
        names = ("values",) if step == VALUES else ()
        properties = state.get("properties", {})
        names_to_keep = properties if step == VALUES else properties.keys() & {property_name(step)}
        if names_to_keep:
            branch["properties"] = {name: narrow_state(properties[name], next_steps) for name in names_to_keep}
    return branch | {name: narrow_state(state[name], next_steps) for name in names if name in state}
