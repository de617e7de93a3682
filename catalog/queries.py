"""The reads that several rooms share: the operations of an environment, and its inbox of witness reports."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Max, Min, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce, Collate

from affidavit.operations import strip_names
from catalog.models import Operation, WitnessReport
from wire.time.period import Period
from workspaces.models import Environment

BY_PATH = (Collate("path", "C").asc(), Collate("method", "C").asc())  # by code point
LARGE_TEXTS = ("document", "outline", "search")  # large columns, which few queries need


@dataclass(frozen=True)
class OperationCounts:
    """The number of operations of an environment, and the number of those that were first seen in a period."""

    total: int
    new: int


def visible_operations(environment: Environment) -> QuerySet[Operation]:
    """Return the operations that pages show.

    They have begun: a status other than 404, 405 and 501 was seen (contract §4). And no template rule shows them under
    another operation.
    """
    return Operation.objects.filter(environment=environment, begun=True, shown_under=None)


def count_operations(environment: Environment, period: Period) -> OperationCounts:
    operations = visible_operations(environment)
    new = operations.filter(first_seen_at__gte=period.start, first_seen_at__lt=period.end)
    return OperationCounts(operations.count(), new.count())


def find_observed_span(environment: Environment) -> tuple[datetime, datetime] | None:
    """Return the times of the first and the last observation of visible operations; None if there is none."""
    times = visible_operations(environment).aggregate(first=Min("first_seen_at"), last=Max("last_seen_at"))
    return (times["first"], times["last"]) if times["first"] else None


def find_operation(environment: Environment, method: str, path: str, *, as_reported: bool = False) -> Operation | None:
    """Return the operation of this method and path, or the one under which it is shown, with its evidence prefetched.

    The names of parameters in `path` do not matter.

    as_reported: return the operation itself, even if it is shown under another.
    """
    reported_operations = Operation.objects.filter(environment=environment, method=method, key=strip_names(path))
    visible_pk = F("pk") if as_reported else Coalesce("shown_under_id", "pk")
    operations = Operation.objects.filter(
        environment=environment, begun=True, pk__in=reported_operations.values_list(visible_pk)
    )
    return prefetch_evidence(operations).first()


def prefetch_evidence(operations: QuerySet[Operation]) -> QuerySet[Operation]:
    """Prefetch what a projection is computed from, for each operation and for those that are shown under it."""
    members = Operation.objects.defer(*LARGE_TEXTS).order_by("method", "key")
    members = members.prefetch_related("parts", "baseline_resets")
    evidence = ("parts", "baseline_resets", "map_rules", Prefetch("shown_here", members))
    return operations.defer(*LARGE_TEXTS).prefetch_related(*evidence)


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
