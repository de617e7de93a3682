"""The queries of drift, versions and outlines, for pages and comparisons."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from catalog.change_kinds import NO_LONGER_SEEN, PRESENCE_KINDS
from catalog.drift.filters import DriftFilters
from catalog.drift.new_changes import leave_out_decided, leave_out_muted, list_mutes
from catalog.evidence.outlines import Outline
from catalog.models import Drift, Operation, OperationVersion
from wire.time.period import Period
from workspaces.models import Environment

Location = tuple[int, str, str]
"""The row id of an operation, one of its parts, and a pointer into it."""


def list_drift(environment: Environment, period: Period, filters: DriftFilters) -> QuerySet[Drift]:
    """Return the changes that were found in a period, the latest first, each with its operation."""
    return _narrow(drift_with_operations(environment), environment, period, filters)


def _narrow(drift: QuerySet[Drift], environment: Environment, period: Period, filters: DriftFilters) -> QuerySet[Drift]:
    drift = drift.filter(at__gte=period.start, at__lt=period.end)
    if filters.breaking:
        drift = drift.exclude(breaks="")
    if filters.compatible:
        drift = drift.filter(breaks="")
    if filters.is_new:
        drift = leave_out_decided(environment, drift)
    if filters.kind:
        drift = drift.filter(kind=filters.kind)
    if filters.method:
        drift = drift.filter(operation__method=filters.method)
    if filters.path:
        drift = drift.filter(operation__path=filters.path)
    for word in filters.words:
        drift = drift.filter(Q(operation__path__icontains=word) | Q(pointer__icontains=word))
    return drift


def find_latest_changes(operation: Operation, part: str, period: Period) -> dict[str, Drift]:
    """Return the last change of each node of a part that was found in a period, by pointer."""
    drift = Drift.objects.filter(environment=operation.environment_id, operation=operation, part=part)
    return {change.pointer: change for change in drift.filter(at__gte=period.start, at__lt=period.end).order_by("id")}


def with_sequels(drift: QuerySet[Drift]) -> QuerySet[Drift]:
    """Add the next change of presence of the same field to each change: `sequel_id` and `sequel_kind`, or None."""
    same_node = {name: OuterRef(name) for name in ("environment", "operation", "part", "pointer")}
    later = Drift.objects.filter(**same_node, kind__in=PRESENCE_KINDS, pk__gt=OuterRef("pk")).order_by("pk")
    return drift.annotate(sequel_id=Subquery(later.values("pk")[:1]), sequel_kind=Subquery(later.values("kind")[:1]))


def find_absent_locations(environment: Environment, locations: Collection[Location]) -> set[Location]:
    """Return the locations whose last change of presence says that they are no longer seen."""
    conditions = [Q(operation=operation, part=part, pointer=pointer) for operation, part, pointer in locations]
    if not conditions:
        return set()
    drift = Drift.objects.filter(reduce(or_, conditions), environment=environment, kind__in=PRESENCE_KINDS)
    rows = drift.order_by("id").values_list("operation_id", "part", "pointer", "kind")
    last_kinds = {(operation, part, pointer): kind for operation, part, pointer, kind in rows}
    return {location for location, kind in last_kinds.items() if kind == NO_LONGER_SEEN}


def list_open_drift(environment: Environment, period: Period) -> QuerySet[Drift]:
    """Return the breaking changes of a period that nobody has acknowledged or muted, to be counted.

    Every page counts them, so what list_drift adds for a list of changes is left out.
    """
    return _narrow(_list_recorded(environment), environment, period, DriftFilters(breaking=True, is_new=True))


def list_broken_fields(drift: QuerySet[Drift]) -> QuerySet[Drift, tuple[int, str, str]]:
    """Return each field with a breaking change in `drift`, once."""
    return drift.exclude(breaks="").order_by().values_list("operation", "part", "pointer").distinct()


class OperationDrift(NamedTuple):
    """The numbers of the changes of one operation in a period: those that break somebody, and those that do not."""

    breaking: int
    compatible: int


def summarize_drift_of_operations(
    environment: Environment, period: Period, operations: Collection[Operation]
) -> Mapping[int, OperationDrift]:
    """Return the drift of each of these operations that changed in a period, by id."""
    drift = Drift.objects.filter(
        environment=environment, operation__in=operations, at__gte=period.start, at__lt=period.end
    )
    sums = drift.order_by().values("operation")
    sums = sums.annotate(breaking=Count("pk", filter=~Q(breaks="")), compatible=Count("pk", filter=Q(breaks="")))
    rows = sums.values_list("operation", "breaking", "compatible")
    return {pk: OperationDrift(breaking, compatible) for pk, breaking, compatible in rows}


def count_drifted_operations(environment: Environment, period: Period) -> int:
    """Count the visible operations that changed in a period."""
    drift = _narrow(_list_recorded(environment), environment, period, DriftFilters())
    drift = drift.filter(operation__shown_under=None).order_by()
    return drift.values("operation").distinct().count()


def list_breaking_drift(environment: Environment, period: Period) -> QuerySet[Drift]:
    """Return the breaking changes of a period, the latest first, without those that are muted."""
    return leave_out_muted(environment, list_drift(environment, period, DriftFilters(breaking=True)))


def drift_with_operations(environment: Environment) -> QuerySet[Drift]:
    """Return all changes, the latest first, with only the method and the path of their operations.

    Each has `muted_until`: when the mute of this kind of change at this node ends; None if none is in force.
    """
    columns = [*(field.name for field in Drift._meta.concrete_fields), "operation__method", "operation__path"]
    drift = _list_recorded(environment).annotate(muted_until=Subquery(list_mutes(environment).values("until")))
    return drift.select_related("operation").only(*columns).order_by("-at", "-id")


def _list_recorded(environment: Environment) -> QuerySet[Drift]:
    return Drift.objects.filter(environment=environment, operation__begun=True)


def list_versions(operation: Operation) -> QuerySet[OperationVersion]:
    """Return the versions of an operation, the latest first, without their outlines."""
    return operation.versions.defer("outline")


def load_outlines_by_number(operation: Operation, numbers: Collection[int]) -> dict[int, Outline]:
    """Return the outlines of these versions by number; versions that do not exist are left out."""
    texts = operation.versions.filter(number__in=numbers).values_list("number", "outline")
    return {number: json.loads(text) for number, text in texts}
