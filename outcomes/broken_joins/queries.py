"""Select broken joins, and the API keys that they may have been reported with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db.models import QuerySet

from outcomes.models import Outcome
from wire.tallies.spans import widen_to_quarters
from wire.time.period import Period
from workspaces.models import ApiKey, Environment


def find_broken_joins(environment: Environment, period: Period, key: str = "") -> QuerySet[Outcome]:
    """Return the broken joins first reported in the period, the newest first.

    key: their outcome key, "" for any.
    """
    joins = Outcome.objects.filter(environment=environment, broken=True, **period_filter("first_reported_at", period))
    return (
        (joins.filter(outcome_key=key) if key else joins)
        .select_related("conversation")
        .order_by("-first_reported_at", "-conversation_id", "outcome_key")
    )


def sort_by_last_report(joins: QuerySet[Outcome]) -> QuerySet[Outcome]:
    return joins.order_by("-last_reported_at", "-first_reported_at", "-conversation_id", "outcome_key")


def find_oldest_report(environment: Environment) -> datetime | None:
    """Return when the oldest join that is still broken was first reported, in any period; None if there is none."""
    oldest_first = Outcome.objects.filter(environment=environment, broken=True).order_by("first_reported_at")
    return oldest_first.values_list("first_reported_at", flat=True).first()


def list_api_keys(environment: Environment) -> Mapping[int | None, ApiKey]:
    """Return the API keys of the workspace by row id."""
    return {key.pk: key for key in environment.workspace.api_keys.all()}


def period_filter(field: str, period: Period) -> dict[str, datetime]:
    """Return the filter for rows whose time in `field` is in the period, by whole quarter hours."""
    start, end = widen_to_quarters(period)
    return {f"{field}__gte": start, f"{field}__lt": end}
