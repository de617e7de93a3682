"""The size of an environment's catalog, as the comparison of environments shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Sum

from catalog.drift.compared_operations import find_absent_places
from catalog.drift.current_presence import list_no_longer_seen
from catalog.drift.queries import load_outlines
from catalog.evidence.outline_nodes import list_outline_nodes, remove_properties
from catalog.evidence.outlines import Outline
from catalog.evidence.parts import PartShape, find_absence_states
from catalog.models import Operation
from catalog.queries import visible_operations
from workspaces.models import Environment


@dataclass(frozen=True)
class CatalogExtent:
    """The size of an environment's catalog.

    properties: how many properties are still sent.
    no_longer_seen: how many are not, including the properties inside those.
    first_seen_at, last_seen_at: the first and the last observation of any operation; None if there is none.
    """

    environment: Environment
    operations: int
    properties: int
    no_longer_seen: int
    first_seen_at: datetime | None
    last_seen_at: datetime | None


def measure_catalog(environment: Environment) -> CatalogExtent:
    totals = visible_operations(environment).aggregate(
        operations=Count("pk"), properties=Sum("properties"), first=Min("first_seen_at"), last=Max("last_seen_at")
    )
    no_longer_seen = _count_no_longer_seen(environment)
    properties = (totals["properties"] or 0) - no_longer_seen
    return CatalogExtent(environment, totals["operations"], properties, no_longer_seen, totals["first"], totals["last"])


def _count_no_longer_seen(environment: Environment) -> int:
    absent = {key: places.no_longer_seen for key, places in find_absent_places(environment).items()}
    outlines = load_outlines(environment, [key for key, places in absent.items() if places])
    return sum(_count_inside(outline, absent.get(key, ())) for key, outline in outlines.items())


def count_no_longer_seen(operation: Operation, shapes: Iterable[PartShape]) -> int:
    """Return how many properties of an operation are no longer seen, including the properties inside those.

    shapes: all parts of the operation.
    """
    states = {shape.key: find_absence_states(operation, shape.part) for shape in shapes}
    places = [(key, pointer) for key, absences in states.items() for pointer in list_no_longer_seen(absences)]
    return _count_inside(json.loads(operation.outline), places) if places else 0


def _count_inside(outline: Outline, places: Iterable[tuple[str, str]]) -> int:
    return _count_nodes(outline) - _count_nodes(remove_properties(outline, places))


def _count_nodes(outline: Outline) -> int:
    return sum(1 for _ in list_outline_nodes(outline))
