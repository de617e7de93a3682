"""The summary of breaking drift on the overview: which fields it names, which changes it counts
together, and which properties it adds that are probably gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Min

from catalog.drift.presence.load_probably_gone import list_probably_gone
from catalog.drift.presence.operation_presence import ProbablyGone
from catalog.drift.queries import drift_with_operations, list_broken_fields, list_open_drift
from catalog.models import Drift
from wire.time.period import Period
from workspaces.models import Environment

NAMED_FIELDS = 3  # a summary names at most this many broken fields
TOGETHER = timedelta(hours=1)  # changes that were found within this time are reported together


@dataclass(frozen=True)
class BreakingDrift:
    """The fields that broke in a period, by changes that are neither acknowledged nor muted.

    operations: the number of operations that have these fields.
    latest: the last change of each field that a summary names, the latest first; all are from the last hour (TOGETHER)
        before the latest change of the period.
    detected_at: when the first change of that hour was found.
    changes: how many changes were found in that hour; a field can break more than once.
    earlier: how many fields broke only before that hour.
    earlier_named: the last change of each of these earlier fields that a summary names, the latest first.
    """

    fields: int
    operations: int
    latest: Sequence[Drift]
    detected_at: datetime
    changes: int
    earlier: int = 0
    earlier_named: Sequence[Drift] = ()

    @property
    def unlisted_count(self) -> int:
        return self.fields - len(self.latest) - self.earlier

    @property
    def earlier_unnamed_count(self) -> int:
        return self.earlier - len(self.earlier_named)


def summarize_breaking_drift(environment: Environment, period: Period) -> BreakingDrift | None:
    """Sum the breaking changes of a period that nobody has acknowledged or muted; None if there are none."""
    drift = list_open_drift(environment, period)
    totals = drift.order_by().aggregate(operations=Count("operation", distinct=True), last_at=Max("at"))
    if not totals["operations"]:
        return None
    earliest = totals["last_at"] - TOGETHER
    recent = drift.filter(at__gt=earliest)
    newest = list_broken_fields(recent).annotate(change=Max("pk")).order_by("-change").values_list("change", flat=True)
    latest = drift_with_operations(environment).filter(pk__in=list(newest[:NAMED_FIELDS])).order_by("-pk")
    group = recent.order_by().aggregate(detected_at=Min("at"), changes=Count("pk"))
    fields = list_broken_fields(drift)
    earlier = fields.annotate(last_at=Max("at"), change=Max("pk")).filter(last_at__lte=earliest)
    earlier_ids = list(earlier.order_by("-change").values_list("change", flat=True)[:NAMED_FIELDS])
    earlier_changes = (
        drift_with_operations(environment).filter(pk__in=earlier_ids).order_by("-pk") if earlier_ids else ()
    )
    return BreakingDrift(
        fields.count(),
        totals["operations"],
        list(latest),
        **group,
        earlier=earlier.count() if len(earlier_ids) == NAMED_FIELDS else len(earlier_ids),
        earlier_named=list(earlier_changes),
    )


def list_unreported(environment: Environment, period: Period) -> list[ProbablyGone]:
    """Return the properties that are probably gone, without those that have open breaking drift in the period."""
    gone_properties = list_probably_gone(environment, period=period)
    if not gone_properties:
        return []
    drift = list_open_drift(environment, period).filter(operation__in={item.operation.pk for item in gone_properties})
    broken = set(list_broken_fields(drift))
    return [item for item in gone_properties if (item.operation.pk, item.part, item.pointer) not in broken]
