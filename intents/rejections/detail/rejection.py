"""Read one rejection, and the rejections like it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Min, Sum

from intents.models import Rejection
from wire.time.period import ceil_to_quarter, floor_to_quarter
from workspaces.models import Environment

AROUND = timedelta(days=1)  # how far before and after a rejection to look for others


def find_rejection(environment: Environment, occurred_at: datetime | None, number: int | None) -> Rejection | None:
    """Return the rejection with this time and id, if any. The table is partitioned by time, so both are needed."""
    if occurred_at is None or number is None:
        return None
    rejections = Rejection.objects.filter(environment=environment, occurred_at=occurred_at, id=number)
    return rejections.select_related("api_key", "environment__workspace").first()


@dataclass(frozen=True)
class AlikeRejections:
    """The calls of one operation that were rejected for one reason within a day before or after a rejection.

    calls: their number.
    since: when the first of them was rejected.
    start, end: the time that was searched. It has whole quarter hours, so that the page of rejections can list the same
        rejections.
    """

    calls: int
    since: datetime
    start: datetime
    end: datetime


def find_alike(environment: Environment, rejection: Rejection) -> AlikeRejections:
    """Sum the rejections with the same reason and operation around the time of `rejection`, which is included."""
    start = floor_to_quarter(rejection.occurred_at - AROUND)
    end = ceil_to_quarter(rejection.occurred_at + AROUND)
    alike = Rejection.objects.filter(
        environment=environment, occurred_at__gte=start, occurred_at__lt=end,
        reason=rejection.reason, operation=rejection.operation,
    )  # fmt: skip
    totals = alike.aggregate(calls=Sum("count"), since=Min("occurred_at"))
    return AlikeRejections(totals["calls"] or 0, totals["since"] or rejection.occurred_at, start, end)
