"""Verifications by quarter hour and result, over all versions and operations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Max, Sum

from intents.models import ALL_VERSIONS, VerificationRollup
from workspaces.models import Environment


def read_quarters(environment: Environment, *, since: datetime, until: datetime) -> Iterator[tuple[datetime, str, int]]:
    """Yield tuples of a quarter hour's start, a result and its count, in [since, until), sorted by time."""
    rows = VerificationRollup.objects.filter(
        environment=environment, grain="q", version=ALL_VERSIONS, starts_at__gte=since, starts_at__lt=until
    )
    sums = rows.values_list("starts_at", "result").annotate(sum=Sum("count")).order_by("starts_at", "result")
    for start, result, count in sums:
        yield start, result, int(count)


def list_last_times(environment: Environment, quarter: datetime) -> dict[str, datetime]:
    """Return when each result last occurred in the quarter hour that begins at `quarter`."""
    rows = VerificationRollup.objects.filter(
        environment=environment, grain="q", version=ALL_VERSIONS, starts_at=quarter
    )
    return dict(rows.values_list("result").annotate(last=Max("last_at")))
