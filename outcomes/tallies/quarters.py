"""Outcomes and broken joins by quarter hour, over all keys."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Sum

from outcomes.models import ALL_KEYS, Tally
from workspaces.models import Environment


def read_quarters(environment: Environment, *, since: datetime, until: datetime) -> Iterator[tuple[datetime, int, int]]:
    """Yield the start, broken joins and reported outcomes of quarter hours in [since, until), sorted by time.

    Quarter hours without a tally are left out.
    """
    rows = Tally.objects.filter(
        environment=environment, grain="q", outcome_key=ALL_KEYS, starts_at__gte=since, starts_at__lt=until
    )
    sums = rows.values_list("starts_at").annotate(broken=Sum("broken"), outcomes=Sum("outcomes")).order_by("starts_at")
    for start, broken_joins, outcomes in sums:
        yield start, int(broken_joins), int(broken_joins) + int(outcomes)
