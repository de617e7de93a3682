"""The queries of the list of operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db.models import (
    BigIntegerField,
    Case,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from affidavit.operations import Identity
from catalog.browse.filters import OperationFilters
from catalog.drift.filters import DriftFilters
from catalog.drift.presence.property_counts import count_absent_by_operation, count_probably_gone
from catalog.drift.queries import list_drift
from catalog.evidence.observed_days import DaySpan, find_days
from catalog.evidence.unobserved_resets import find_unobserved_reset
from catalog.models import BaselineReset, Operation, OperationDay
from catalog.operation_queries import BY_PATH, LARGE_TEXTS, visible_operations
from wire.time.period import Period
from workspaces.models import Environment

ORDERS = {
    "path": BY_PATH,
    "observations": ("-observations_in_period", *BY_PATH),
    "first": ("-first_seen_at", *BY_PATH),
    "last": ("-last_seen_at", *BY_PATH),
}
LISTED_COLUMNS = (
    "method", "path", "observations", "statuses", "properties", "undecided", "first_seen_at", "last_seen_at",
    "unknowns", "drifted_at",
)  # fmt: skip


def list_operations(
    environment: Environment, period: Period, filters: OperationFilters, verified_pks: Collection[int] = ()
) -> QuerySet[Operation]:
    """Return the operations that pass the filters, in their order, without evidence.

    Each has `observations_in_period`, counted by whole UTC days and including operations shown under it.

    verified_pks: the operations that a backend verified.
    """
    operations = _count_observed(visible_operations(environment), environment, find_days(period))
    for word in filters.words:
        operations = operations.filter(search__icontains=word)
    if filters.method:
        operations = operations.filter(method=filters.method)
    if filters.statuses:
        operations = operations.filter(statuses__has_any_keys=filters.statuses)
    match filters.subset:
        case "unknown":
            operations = operations.filter(unknowns__gt=0)
        case "drifted":
            drift = list_drift(environment, period, DriftFilters()).order_by()
            operations = operations.filter(pk__in=drift.values("operation"))
        case "new":
            operations = operations.filter(first_seen_at__gte=period.start, first_seen_at__lt=period.end)
        case "unseen":
            operations = operations.filter(Q(last_seen_at__lt=period.start) | _is_counted_around(environment, period))
        case "verified":
            operations = operations.filter(pk__in=verified_pks)
        case "unverified":
            operations = operations.exclude(pk__in=verified_pks)
    if filters.sort == "properties":
        return operations.order_by(_count_present_properties(environment).desc(), *BY_PATH).only(*LISTED_COLUMNS)
    return operations.order_by(*ORDERS[filters.sort]).only(*LISTED_COLUMNS)


def find_verified(environment: Environment, verifications: Mapping[Identity, datetime]) -> Mapping[int, datetime]:
    """Return when each visible operation was last verified, by its row id. Leave out those that never were.

    If an operation is shown under another, its verification counts for the other.

    verifications: when each operation was last verified, by the method and path that backends reported.
    """
    moments: dict[int, datetime] = {}
    keys = {identity.key for identity in verifications}
    rows = Operation.objects.filter(environment=environment, key__in=keys)
    for pk, method, key in rows.values_list(Coalesce("shown_under_id", "pk"), "method", "key"):
        moment = verifications.get(Identity(method, key))
        if moment:
            moments[pk] = max(moment, moments.get(pk, moment))
    return moments


def find_unobserved_resets(environment: Environment, operations: Collection[Operation]) -> dict[int, BaselineReset]:
    """Return the baseline resets after which nothing was observed, by operation id. Leave out other operations."""
    rows = visible_operations(environment).filter(pk__in=[row.pk for row in operations], shown_from__gt=0)
    rows = rows.defer(*LARGE_TEXTS).prefetch_related("baseline_resets", "shown_here__baseline_resets")
    resets = {row.pk: find_unobserved_reset(row) for row in rows}
    return {pk: reset for pk, reset in resets.items() if reset}


def _count_present_properties(environment: Environment) -> Case:
    """Return the number of an operation's properties without those that are no longer seen or probably gone."""
    operations: dict[int, list[int]] = {}
    absent_counts = Counter(count_absent_by_operation(environment)) + Counter(count_probably_gone(environment))
    for operation, absent in absent_counts.items():
        operations.setdefault(absent, []).append(operation)
    present = (When(pk__in=pks, then=F("properties") - Value(absent)) for absent, pks in operations.items())
    return Case(*present, default=F("properties"), output_field=IntegerField())


def _count_observed(
    operations: QuerySet[Operation], environment: Environment, days: DaySpan | None
) -> QuerySet[Operation]:
    if days is None:
        return operations.annotate(observations_in_period=F("observations"))
    # Two sums, each by its index: one sum with OR would read all operations for each operation.
    own_days, days_of_shown = Q(operation=OuterRef("pk")), Q(operation__shown_under=OuterRef("pk"))
    return operations.annotate(
        observations_in_period=_sum_days(environment, days, own_days) + _sum_days(environment, days, days_of_shown)
    )


def _is_counted_around(environment: Environment, period: Period) -> Q:
    """Return whether an operation was observed before and after the period, and has counts by day, but none in it."""
    days = find_days(period)
    if days is None:
        return Q(pk__in=[])
    is_observed_around = Q(first_seen_at__lt=period.start, last_seen_at__gte=period.end)
    is_counted_before = _is_counted(environment, day__lt=days.first)
    return is_observed_around & is_counted_before & ~_is_counted(environment, day__range=(days.first, days.last))


def _is_counted(environment: Environment, **days: Any) -> Q:
    rows = OperationDay.objects.filter(environment=environment, **days)
    own_days, days_of_shown = rows.filter(operation=OuterRef("pk")), rows.filter(operation__shown_under=OuterRef("pk"))
    return Q(Exists(own_days)) | Q(Exists(days_of_shown))


def _sum_days(environment: Environment, days: DaySpan, of_operation: Q) -> Coalesce:
    """Return the sum of the observations on the days of the outer query's operation; 0 if it has none."""
    rows = OperationDay.objects.filter(
        of_operation,
        environment=environment,
        day__range=(days.first, days.last),
        epoch__gte=F("operation__shown_from"),
    )
    sums = rows.order_by().values("environment").annotate(total=Sum("observations")).values("total")
    return Coalesce(Subquery(sums), 0, output_field=BigIntegerField())


def list_methods(environment: Environment) -> list[str]:
    return list(visible_operations(environment).order_by("method").values_list("method", flat=True).distinct())
