"""The evidence of an operation on some days, in the same form as its evidence of all time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta
from typing import Any

from django.db.models import Min, Q, QuerySet
from django.db.models.functions import Coalesce

from affidavit.operations import Part, part_key
from catalog.evidence.active_resets import first_visible_epoch, list_node_resets
from catalog.evidence.epoch_sums import EpochEvidence, build_visible_part
from catalog.evidence.parts import PartShape, parse_epochs
from catalog.models import Operation, OperationDay
from wire.time.period import Period
from workspaces.models import Environment


@dataclass(frozen=True)
class DaySpan:
    """The UTC days, first and last included, that a period touches: shapes are counted by whole UTC days."""

    first: date
    last: date


def find_days(period: Period) -> DaySpan | None:
    """Return the days of a period; None for all time."""
    if period.preset == "all":
        return None
    return DaySpan(period.start.astimezone(UTC).date(), (period.end - timedelta.resolution).astimezone(UTC).date())


@dataclass(frozen=True)
class ObservedDays:
    """The days of a span on which an operation, or one that is shown under it, was observed."""

    operation: Operation
    rows: Mapping[int, Sequence[OperationDay]]

    @property
    def observations(self) -> int:
        """Return how many observations of those days are shown."""
        return sum(self._count_statuses("").values())

    @property
    def status_counts(self) -> Mapping[int, int]:
        """Return the observations by status."""
        return self._count_statuses("")

    def build_part(self, shape: PartShape) -> PartShape:
        """Return a part as if nothing had been observed on other days; the maps are those of `shape`."""
        evidence = [
            EpochEvidence(epochs, list_node_resets(row, shape.key))
            for row in self.operation.merged_rows
            if (epochs := self._load_epochs(row, shape.part))
        ]
        rules = dict.fromkeys(shape.maps, True)
        visible = build_visible_part(evidence, map_rules=rules, by_likeness=False)
        return replace(
            shape,
            evidence=visible.evidence,
            observations=self.count_observations(shape),
            maps=visible.maps,
            reset_counts=visible.reset_counts,
        )

    def count_observations(self, shape: PartShape) -> int:
        """Return how often a part could have been present on those days.

        This is the number of observations: for a response, those with its status; for the query and the request, those
        with 2xx or 3xx.
        """
        counts = self._count_statuses(shape.key)
        if shape.part.status:
            return counts[shape.part.status]
        return sum(count for status, count in counts.items() if 200 <= status < 400)

    def _load_epochs(self, row: Operation, part: Part) -> Mapping[int, Any]:
        states = (
            (part, day.epoch, day.evidence[part_key(part)])
            for day in self.rows.get(row.pk, ())
            if part_key(part) in day.evidence
        )
        return parse_epochs(row, states).get(part, {})

    def _count_statuses(self, key: str) -> Counter[int]:
        counts: Counter[int] = Counter()
        for row in self.operation.merged_rows:
            for day in self.rows.get(row.pk, ()):
                if day.epoch >= first_visible_epoch(row, key):
                    counts.update({int(status): count for status, count in day.statuses.items()})
        return counts


@dataclass(frozen=True)
class Gap:
    """Days of a span on which an operation was observed, but for which no counts are kept.

    counted_from: the first day with counts; None if there is none.
    """

    counted_from: date | None


def find_gap(operation: Operation, days: DaySpan | None) -> Gap | None:
    """Return a gap if some days of the span have no counts, such as days before an upgrade; else None."""
    if days is None:
        return None
    row_ids = [row.pk for row in operation.merged_rows]
    rows = OperationDay.objects.filter(environment=operation.environment_id, operation__in=row_ids)
    counted_from = rows.aggregate(first=Min("day"))["first"]
    return Gap(counted_from) if has_gap(operation, days, counted_from) else None


def find_gaps(environment: Environment, operations: Collection[Operation], days: DaySpan | None) -> dict[int, Gap]:
    """Return the gaps of visible operations by their ids, as `find_gap` does for one. Leave out those without a gap."""
    if days is None or not operations:
        return {}
    row_ids = [operation.pk for operation in operations]
    rows = Operation.objects.filter(Q(pk__in=row_ids) | Q(shown_under__in=row_ids), environment=environment)
    visible_ids = dict(rows.values_list("pk", Coalesce("shown_under_id", "pk")))
    first_days = OperationDay.objects.filter(environment=environment, operation__in=visible_ids).values("operation")
    counted_from: dict[int, date] = {}
    for row_id, first in first_days.annotate(first=Min("day")).values_list("operation", "first"):
        visible_id = visible_ids[row_id]
        counted_from[visible_id] = min(first, counted_from.get(visible_id, first))
    firsts = {operation: counted_from.get(operation.pk) for operation in operations}
    return {row.pk: Gap(first) for row, first in firsts.items() if has_gap(row, days, first)}


def has_gap(operation: Operation, days: DaySpan, counted_from: date | None) -> bool:
    """Return whether the operation was observed on days of the span before `counted_from`, its first with counts."""
    first, last = (moment.astimezone(UTC).date() for moment in (operation.first_seen_at, operation.last_seen_at))
    is_outside = first > days.last or last < days.first
    return not is_outside and (counted_from is None or counted_from > max(days.first, first))


def load_days(operation: Operation, days: DaySpan) -> ObservedDays:
    rows: dict[int, list[OperationDay]] = {}
    for row in _select_days(operation, days):
        rows.setdefault(row.operation_id, []).append(row)
    return ObservedDays(operation, rows)


def _select_days(operation: Operation, days: DaySpan) -> QuerySet[OperationDay]:
    rows = OperationDay.objects.filter(
        environment=operation.environment_id,
        operation__in=[row.pk for row in operation.merged_rows],
        day__range=(days.first, days.last),
    )
    return rows.order_by("day")
