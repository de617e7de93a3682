"""The operations of an environment, as several rooms read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Max, Min, Prefetch, QuerySet
from django.db.models.functions import Coalesce, Collate

from affidavit.operations import strip_names
from catalog.models import Operation
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
    return prefetch_evidence(_select_operations([environment], method, path, as_reported=as_reported)).first()


def list_environments_with(
    environment: Environment, method: str, path: str, *, as_reported: bool = False
) -> QuerySet[Environment]:
    """Return the other environments in which `find_operation` finds this, of those that the reader may see, by name."""
    siblings = environment.readable_siblings
    operations = _select_operations(siblings, method, path, as_reported=as_reported)
    return siblings.filter(pk__in=operations.values("environment")).order_by("name")


def _select_operations(
    environments: Sequence[Environment] | QuerySet[Environment], method: str, path: str, *, as_reported: bool
) -> QuerySet[Operation]:
    reported = Operation.objects.filter(environment__in=environments, method=method, key=strip_names(path))
    visible_pk = F("pk") if as_reported else Coalesce("shown_under_id", "pk")
    return Operation.objects.filter(environment__in=environments, begun=True, pk__in=reported.values_list(visible_pk))


def prefetch_evidence(operations: QuerySet[Operation]) -> QuerySet[Operation]:
    """Prefetch what a projection is computed from, for each operation and for those that are shown under it."""
    members = Operation.objects.defer(*LARGE_TEXTS).order_by("method", "key")
    members = members.prefetch_related("parts", "baseline_resets")
    evidence = ("parts", "baseline_resets", "map_rules", Prefetch("shown_here", members))
    return operations.defer(*LARGE_TEXTS).prefetch_related(*evidence)
