"""How many properties of operations are still sent, no longer seen, or probably gone."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from catalog.drift.presence.load_no_longer_seen import find_no_longer_seen_of, load_places_no_longer_seen
from catalog.drift.presence.load_probably_gone import find_probably_gone_of
from catalog.drift.presence.operation_presence import ComparedOperation
from catalog.evidence.outline_nodes import list_outline_nodes, remove_properties
from catalog.evidence.outlines import Outline
from catalog.models import Operation
from catalog.operation_queries import visible_operations
from workspaces.models import Environment


@dataclass(frozen=True)
class PropertyCounts:
    """How many properties of an operation are still sent, no longer seen, or probably gone.

    A property inside one that is no longer seen, or probably gone, counts like that one. No property is in two of these
    numbers.
    """

    properties: int
    no_longer_seen: int
    probably_gone: int


def count_probably_gone(environment: Environment, operations: Collection[Operation] | None = None) -> dict[int, int]:
    """Return how many properties are probably gone, including those inside them, by the id of each operation with any.

    Those inside a property that is no longer seen do not count again.

    operations: None for all that are visible.
    """
    rows = visible_operations(environment)
    if operations is not None:
        rows = rows.filter(pk__in=[operation.pk for operation in operations])
    places: dict[int, list[tuple[str, str]]] = {}
    for item in find_probably_gone_of(environment, rows):
        places.setdefault(item.operation.pk, []).append((item.part, item.pointer))
    if not places:
        return {}
    with_gone = list(rows.filter(pk__in=places).only("outline"))
    absent = load_places_no_longer_seen(environment, with_gone)
    return {
        row.pk: count_others_inside(json.loads(row.outline), absent.get(row, ()), places[row.pk]) for row in with_gone
    }


def count_absent_by_operation(
    environment: Environment, operations: Collection[Operation] | None = None
) -> dict[int, int]:
    """Return how many properties are no longer seen, including those inside them, by the id of each operation with any.

    operations: None for all that are visible.
    """
    absent = load_places_no_longer_seen(environment, operations)
    return {operation.pk: _count_inside(json.loads(operation.outline), places) for operation, places in absent.items()}


def count_properties(operation: Operation) -> PropertyCounts:
    absent = find_no_longer_seen_of(operation)
    gone_places = [(item.part, item.pointer) for item in ComparedOperation(operation).list_probably_gone()]
    no_longer_seen = _count_inside(json.loads(operation.outline), absent) if absent else 0
    probably_gone = count_others_inside(json.loads(operation.outline), absent, gone_places) if gone_places else 0
    return PropertyCounts(operation.properties - no_longer_seen - probably_gone, no_longer_seen, probably_gone)


def count_properties_of_operations(
    environment: Environment, operations: Collection[Operation]
) -> dict[int, PropertyCounts]:
    """Return the counts of each of these operations, by its id."""
    absent_counts = count_absent_by_operation(environment, operations)
    gone_counts = count_probably_gone(environment, operations)
    counts = {row: (absent_counts.get(row.pk, 0), gone_counts.get(row.pk, 0)) for row in operations}
    return {row.pk: PropertyCounts(row.properties - sum(absent), *absent) for row, absent in counts.items()}


def _count_inside(outline: Outline, places: Iterable[tuple[str, str]]) -> int:
    return _count_nodes(outline) - _count_nodes(remove_properties(outline, places))


def count_others_inside(
    outline: Outline, no_longer_seen: Iterable[tuple[str, str]], places: Iterable[tuple[str, str]]
) -> int:
    """Return how many properties are at or inside these places, without those that are no longer seen."""
    return _count_inside(remove_properties(outline, no_longer_seen), places)


def _count_nodes(outline: Outline) -> int:
    return sum(1 for _ in list_outline_nodes(outline))
