"""What the pages read of verifications and rejections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Max, QuerySet, Sum
from django.db.models.functions import Trunc

from intents.models import Rejection, VerificationTally
from intents.rejections.filters import RejectionFilters, narrow_result
from intents.rejections.series import ResultBucket, build_buckets
from intents.rejections.totals import (
    ReasonSummary,
    Total,
    count_rejections,
    count_verifications,
    group_by_reason,
)
from intents.reports.verification import ACCEPTED
from wire.period import Period
from workspaces.models import Environment, Workspace

NO_FILTERS = RejectionFilters()


@dataclass(frozen=True)
class RejectionOverview:
    """What the overview page shows of intents. reasons: the most frequent first; previous_*: of the period before."""

    verifications: int
    rejections: int
    reasons: Sequence[ReasonSummary]
    previous_verifications: int
    previous_rejections: int


def load_overview(environment: Environment, period: Period) -> RejectionOverview:
    """Read the facts of the overview page."""
    totals, previous = load_totals(environment, period), load_totals(environment, period.previous())
    return RejectionOverview(
        verifications=count_verifications(totals),
        rejections=count_rejections(totals),
        reasons=group_by_reason(totals, previous),
        previous_verifications=count_verifications(previous),
        previous_rejections=count_rejections(previous),
    )


@dataclass(frozen=True)
class VersionCounts:
    """Accepted calls of the last 7 days: those of version 1, and all whose version was reported."""

    v1: int
    total: int


def count_versions(workspace: Workspace, *, now: datetime) -> VersionCounts:
    """Count the accepted calls of all environments of a workspace by version."""
    tallies = VerificationTally.objects.filter(
        environment__in=workspace.environments.all(),
        start__gt=now - timedelta(days=7),
        result=ACCEPTED,
        version__in=(1, 2),
    )
    counts = dict(tallies.values_list("version").annotate(Sum("count")).order_by())
    return VersionCounts(counts.get(1, 0), sum(counts.values()))


def has_verifications(environment: Environment) -> bool:
    """Whether a verification was ever reported."""
    return VerificationTally.objects.filter(environment=environment).exists()


def load_totals(environment: Environment, period: Period, filters: RejectionFilters = NO_FILTERS) -> Sequence[Total]:
    """Sum the verifications by result, version and operation; the filter on the reason is not applied."""
    groups = _filter_tallies(environment, period, filters).values_list("result", "version", "operation")
    return [Total(*row) for row in groups.annotate(Sum("count"), Max("last_at")).order_by()]


def load_buckets(
    environment: Environment, period: Period, filters: RejectionFilters = NO_FILTERS
) -> Sequence[ResultBucket]:
    """Count the verifications over time, as the filters select them."""
    moment = F("start") if period.step == "hour" else Trunc("start", period.step, tzinfo=period.zone)
    groups = _filter_tallies(environment, period, filters).annotate(moment=moment).values_list("moment", "result")
    rows = groups.annotate(Sum("count")).order_by()
    narrowed_rows = ((moment, narrow_result(result, filters.reason), count) for moment, result, count in rows)
    return build_buckets(period, narrowed_rows)


def list_rejections(
    environment: Environment, period: Period, filters: RejectionFilters = NO_FILTERS
) -> QuerySet[Rejection]:
    """Return the single rejections, the latest first."""
    rejections = Rejection.objects.filter(
        environment=environment, occurred_at__gte=period.start, occurred_at__lt=period.end, **_read_conditions(filters)
    )
    if filters.reason:
        rejections = rejections.filter(reason=filters.reason)
    return rejections.order_by("-occurred_at", "-id")


def _filter_tallies(environment: Environment, period: Period, filters: RejectionFilters) -> QuerySet[VerificationTally]:
    return VerificationTally.objects.filter(
        environment=environment, start__gte=period.start, start__lt=period.end, **_read_conditions(filters)
    )


def _read_conditions(filters: RejectionFilters) -> dict[str, Any]:
    """Return the conditions on version and operation, where the filters set them."""
    conditions = {"version": filters.version, "operation": filters.operation}
    return {column: value for column, value in conditions.items() if value}
