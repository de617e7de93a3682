"""The inbox of witness reports, as several rooms read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db.models import Count, Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from catalog.models import Operation, WitnessReport
from workspaces.models import Environment


def dead_letters(environment: Environment) -> QuerySet[WitnessReport]:
    """Return the reports that could not be folded, the latest first, without their contents."""
    reports = WitnessReport.objects.filter(environment=environment, dead_lettered_at__isnull=False)
    return reports.order_by("-dead_lettered_at", "-id").defer("sums")


def count_dead_letters(environments: Collection[int]) -> Mapping[int, int]:
    """Count the reports that could not be folded, by the row id of each environment that has any."""
    reports = WitnessReport.objects.filter(environment__in=environments, dead_lettered_at__isnull=False).order_by()
    return dict(reports.values_list("environment_id").annotate(count=Count("pk")))


def find_last_witness_reports(environments: Collection[int]) -> Mapping[int, datetime]:
    """Return when the last witness report was received, by the row id of each environment that has any.

    Where no report is stored any more, it is the time of the last observation.
    """
    # The latest row of each environment, which an index finds: a maximum by group would read every report.
    reports = WitnessReport.objects.filter(environment=OuterRef("pk")).order_by("-received_at")
    operations = Operation.objects.filter(environment=OuterRef("pk")).order_by().values("environment")
    received_at = Subquery(reports.values("received_at")[:1])
    observed_at = Subquery(operations.annotate(last=Max("last_seen_at")).values("last"))
    rows = Environment.objects.filter(pk__in=environments).order_by()
    moments = rows.values_list("pk", Coalesce(received_at, observed_at))
    return {environment: moment for environment, moment in moments if moment}


def unfolded_reports() -> QuerySet[WitnessReport]:
    """Return the reports of all environments that are still to be folded."""
    return WitnessReport.objects.filter(folded_at=None, dead_lettered_at=None)


def list_environments_to_fold(*, after: datetime, now: datetime) -> list[int]:
    """Return the ids of environments with reports to fold. Reports received from `after` to `now` do not count.

    A report with a time after `now` was received before the clock was set back. It counts, because otherwise it would
    wait until the clock reaches that time again.
    """
    reports = unfolded_reports().exclude(received_at__range=(after, now))
    return list(reports.order_by("environment_id").values_list("environment_id", flat=True).distinct())


def measure_fold_lag(now: datetime) -> float | None:
    """Return the age of the oldest unfolded report in seconds; None if there is none."""
    oldest = unfolded_reports().aggregate(oldest=Min("received_at"))["oldest"]
    return max((now - oldest).total_seconds(), 0.0) if oldest else None
