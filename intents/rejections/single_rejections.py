"""The single rejections of an environment, as the filters select them, and for how long they are kept."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import QuerySet, Sum

from intents.models import Rejection
from intents.rejections.filters import RejectionFilters
from intents.rejections.tallies.read_tallies import NO_FILTERS, list_operations
from wire.time.period import Period
from workspaces.models import Environment, RetentionPolicy, Workspace


def find_retention_days(workspace: Workspace) -> int | None:
    """Return for how many days the workspace keeps single rejections; None if it never deletes them."""
    days = RetentionPolicy.objects.filter(workspace=workspace).values_list("rejections", flat=True)
    return days.first()


def list_rejections(
    environment: Environment, period: Period, filters: RejectionFilters = NO_FILTERS
) -> QuerySet[Rejection]:
    """Return the single rejections, the latest first."""
    rejections = Rejection.objects.filter(
        environment=environment, occurred_at__gte=period.start, occurred_at__lt=period.end, **_read_conditions(filters)
    )
    if filters.reason:
        rejections = rejections.filter(reason=filters.reason)
    if filters.since:
        rejections = rejections.filter(occurred_at__gte=filters.since)
    if filters.key_prefix:
        keys = environment.workspace.api_keys.filter(prefix=filters.key_prefix)
        rejections = rejections.filter(api_key_id__in=list(keys.values_list("pk", flat=True)))
    return rejections.order_by("-occurred_at", "-id")


def find_first_rejection(environment: Environment, period: Period, filters: RejectionFilters) -> datetime | None:
    """Return the time of the first single rejection in a period; None if none is stored."""
    rejections = list_rejections(environment, period, filters).order_by("occurred_at")
    return rejections.values_list("occurred_at", flat=True).first()


def count_calls(rejections: QuerySet[Rejection]) -> int:
    """Return the number of calls: equal calls can be reported together, as one rejection."""
    return int(rejections.aggregate(sum=Sum("count"))["sum"] or 0)


def _read_conditions(filters: RejectionFilters) -> dict[str, Any]:
    """Return the conditions on version and operation that the filters set."""
    conditions = {"version": filters.version, "operation__in": list_operations(filters)}
    return {column: value for column, value in conditions.items() if value}
