"""Every read that the pages and downloads of intents need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Max, QuerySet, Sum
from django.db.models.functions import Trunc

from intents.models import Confirmation, Rejection, VerificationTally
from intents.rejections import totals as total_rows
from intents.rejections.filters import Filters
from intents.rejections.series import Bucket, buckets
from intents.rejections.totals import ReasonLine, Total
from intents.reports.tally import narrowed
from wire.period import Period
from workspaces.models import Environment

NO_FILTERS = Filters()


@dataclass(frozen=True)
class Overview:
    """A range in five facts. reasons: the most frequent first; *_before: of `range.previous()`."""

    verifications: int
    rejections: int
    reasons: Sequence[ReasonLine]
    verifications_before: int
    rejections_before: int


def overview(environment: Environment, period: Period) -> Overview:
    """What the overview page needs of intents."""
    now, before = totals(environment, period), totals(environment, period.previous())
    return Overview(
        verifications=total_rows.verifications(now),
        rejections=total_rows.rejections(now),
        reasons=total_rows.by_reason(now, before),
        verifications_before=total_rows.verifications(before),
        rejections_before=total_rows.rejections(before),
    )


def has_any(environment: Environment) -> bool:
    return VerificationTally.objects.filter(environment=environment).exists()


def totals(environment: Environment, period: Period, filters: Filters = NO_FILTERS) -> Sequence[Total]:
    """The range's sums by result, version and operation; `summary.of_reason` narrows them to one reason."""
    sums = tallies(environment, period, filters).values_list("result", "version", "operation")
    return [Total(*row) for row in sums.annotate(Sum("count"), Max("last_at")).order_by()]


def series(environment: Environment, period: Period, filters: Filters = NO_FILTERS) -> Sequence[Bucket]:
    moment = F("start") if period.step == "hour" else Trunc("start", period.step, tzinfo=period.zone)
    sums = tallies(environment, period, filters).annotate(moment=moment).values_list("moment", "result")
    return buckets(
        period,
        (
            (moment, narrowed(result, filters.reason), count)
            for moment, result, count in sums.annotate(Sum("count")).order_by()
        ),
    )


def tallies(environment: Environment, period: Period, filters: Filters) -> QuerySet[VerificationTally]:
    found = VerificationTally.objects.filter(environment=environment, start__gte=period.start, start__lt=period.end)
    if filters.version:
        found = found.filter(version=filters.version)
    if filters.operation:
        found = found.filter(operation=filters.operation)
    return found


def rejections(environment: Environment, period: Period, filters: Filters = NO_FILTERS) -> QuerySet[Rejection]:
    """The single ones, latest first."""
    found = Rejection.objects.filter(
        environment=environment, occurred_at__gte=period.start, occurred_at__lt=period.end
    ).order_by("-occurred_at", "-id")
    if filters.reason:
        found = found.filter(reason=filters.reason)
    if filters.version:
        found = found.filter(version=filters.version)
    if filters.operation:
        found = found.filter(operation=filters.operation)
    return found


def has_confirmations(environment: Environment) -> bool:
    return Confirmation.objects.filter(environment=environment).exists()


def waiting(environment: Environment, *, now: datetime) -> QuerySet[Confirmation]:
    """What waits at the gate, what expires first at the top."""
    pending = Confirmation.objects.filter(environment=environment, state=Confirmation.PENDING, expires_at__gt=now)
    return pending.order_by("expires_at", "id")


def confirmations(environment: Environment, period: Period) -> QuerySet[Confirmation]:
    """What was asked for in the range, whatever became of it; the latest first."""
    return Confirmation.objects.filter(
        environment=environment, created_at__gte=period.start, created_at__lt=period.end
    ).order_by("-created_at", "id")
