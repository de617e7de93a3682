"""The size of an environment's catalog, as the comparison of environments shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Sum

from catalog.drift.environment_comparison.catalog_rows import load_outlines
from catalog.drift.presence.load_absent import AbsentByOperation
from catalog.drift.presence.property_counts import count_absent_by_operation, count_others_inside
from catalog.operation_queries import visible_operations
from workspaces.models import Environment


@dataclass(frozen=True)
class CatalogExtent:
    """The size of an environment's catalog.

    properties: how many properties are still sent.
    no_longer_seen: how many are no longer seen, including the properties inside them.
    probably_gone: how many are probably gone, including the properties inside them.
    first_seen_at, last_seen_at: the first and the last observation of any operation; None if there is none.
    """

    environment: Environment
    operations: int
    properties: int
    no_longer_seen: int
    probably_gone: int
    first_seen_at: datetime | None
    last_seen_at: datetime | None


def measure_catalog(environment: Environment, absent: AbsentByOperation) -> CatalogExtent:
    """Return the size of an environment's catalog.

    absent: the properties that are absent now (load_absent).
    """
    totals = visible_operations(environment).aggregate(
        operations=Count("pk"), properties=Sum("properties"), first=Min("first_seen_at"), last=Max("last_seen_at")
    )
    no_longer_seen = sum(count_absent_by_operation(environment).values())
    probably_gone = _count_probably_gone(environment, absent)
    return CatalogExtent(
        environment,
        totals["operations"],
        (totals["properties"] or 0) - no_longer_seen - probably_gone,
        no_longer_seen,
        probably_gone,
        totals["first"],
        totals["last"],
    )


def _count_probably_gone(environment: Environment, absent: AbsentByOperation) -> int:
    """Return how many properties are probably gone, including those inside them."""
    absent_by_key = {key: places for key, places in absent.items() if places.probably_gone}
    outlines = load_outlines(environment, absent_by_key) if absent_by_key else {}
    return sum(
        count_others_inside(outlines[key], places.no_longer_seen, places.probably_gone)
        for key, places in absent_by_key.items()
        if key in outlines
    )
