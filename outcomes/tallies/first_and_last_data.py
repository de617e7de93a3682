"""When an environment got its first and its last outcomes, read from tallies."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db.models import F, Max, Min, Sum

from outcomes.models import ALL_KEYS, Tally
from workspaces.models import Environment


def has_any_outcome(environment: Environment) -> bool:
    """Return whether anything was ever reported or registered in this environment."""
    return Tally.objects.filter(environment=environment, grain="m").exists()


def find_first_data(environment: Environment) -> datetime | None:
    """Return the first quarter hour in which a conversation started or an outcome was reported; None without any."""
    quarters = Tally.objects.filter(environment=environment, grain="q", outcome_key=ALL_KEYS).values("starts_at")
    # The shards are summed: what was moved away or deleted is subtracted in a shard of its own.
    sums = quarters.annotate(counted=Sum(F("conversations") + F("outcomes") + F("broken"))).filter(counted__gt=0)
    return sums.order_by("starts_at").values_list("starts_at", flat=True).first()


def find_first_moment(environment: Environment) -> datetime | None:
    """Return when the first outcome was reported in the first quarter hour with data; if none was, return its start.

    Return None if there is no data.
    """
    first = find_first_data(environment)
    if first is None:
        return None
    quarters = Tally.objects.filter(environment=environment, grain="q", outcome_key=ALL_KEYS, starts_at=first)
    first_at: datetime | None = quarters.aggregate(first_at=Min("first_reported_at"))["first_at"]
    return first_at or first


def find_last_reports(environments: Collection[int]) -> Mapping[int, datetime]:
    """Return when an outcome was last reported, by the row id of each environment that has any."""
    months = Tally.objects.filter(environment__in=environments, grain="m", outcome_key=ALL_KEYS).order_by()
    return dict(months.values_list("environment_id").annotate(last_at=Max("last_reported_at")))
