"""The operations beyond MAX_OPERATIONS, which the list of operations only counts.

`catalog.ingest.operation_limit` records them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import CharField, Count, F, Func, QuerySet, Sum, Value
from django.db.models.functions import Collate

from catalog.models import ExcessOperation
from wire.time.period import Period
from workspaces.models import Environment

EXCESS_GROUPS = 10


@dataclass(frozen=True)
class Excess:
    """The numbers of the operations beyond MAX_OPERATIONS that were reported since the start of a period.

    observations: how many observations of these operations were reported in all time.
    is_least: whether there are more operations than are counted one by one, so that `operations` is a lower bound.
    groups: the largest groups of operations with the same method and first segment.
    """

    operations: int
    observations: int
    is_least: bool
    groups: Sequence[ExcessGroup]


@dataclass(frozen=True)
class ExcessGroup:
    """Operations of one method beyond the limit, whose paths begin with the same segment."""

    method: str
    segment: str
    operations: int
    observations: int


def excess_operations(environment: Environment, period: Period) -> QuerySet[ExcessOperation]:
    """Return the operations beyond the limit that were reported since the start of the period, most frequent first."""
    rows = ExcessOperation.objects.filter(environment=environment, last_reported_at__gte=period.start)
    return rows.order_by("-observations", Collate("key", "C"), Collate("method", "C"))


def summarize_excess(environment: Environment, period: Period) -> Excess:
    rows = excess_operations(environment, period)
    single_operations = rows.exclude(method="").order_by()
    first_segment = Func(F("key"), Value("/"), Value(2), function="split_part", output_field=CharField())
    groups = (
        single_operations.annotate(segment=first_segment)
        .values("method", "segment")
        .annotate(operations=Count("pk"), total=Sum("observations"))
        .order_by("-operations", "-total", "segment", "method")
        .values_list("method", "segment", "operations", "total")
    )
    observations = rows.order_by().aggregate(total=Sum("observations"))["total"]
    is_least = rows.filter(method="").exists()
    return Excess(
        single_operations.count(), observations or 0, is_least, [ExcessGroup(*row) for row in groups[:EXCESS_GROUPS]]
    )
