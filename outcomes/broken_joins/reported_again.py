"""Broken joins that were first reported before a period and again in it, so that their causes are still active."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from outcomes.broken_joins.causes.groups import BrokenJoin, Cause, group_by_cause
from outcomes.broken_joins.diagnosed_joins import NEWEST_DIAGNOSED, diagnose_joins
from outcomes.broken_joins.queries import period_filter, sort_by_last_report
from outcomes.models import Outcome
from wire.tallies.spans import widen_to_quarters
from wire.time.period import Period
from workspaces.models import Environment


@dataclass(frozen=True)
class ReportedAgain:
    """The older broken joins whose last report is in a period.

    joins: the joins with the latest reports, the latest first.
    """

    count: int
    joins: Sequence[BrokenJoin]

    @property
    def causes(self) -> Sequence[Cause]:
        return group_by_cause(self.joins)

    @property
    def is_partial(self) -> bool:
        """Return whether there are more than the diagnosed joins."""
        return self.count > len(self.joins)


def read_reported_again(environment: Environment, period: Period, key: str = "") -> ReportedAgain:
    """Return the older broken joins with this outcome key ("" for any) that were reported again in the period."""
    outcomes = find_reported_again(environment, period, key)
    joins = list(diagnose_joins(environment, outcomes[:NEWEST_DIAGNOSED]))
    return ReportedAgain(len(joins) if len(joins) < NEWEST_DIAGNOSED else outcomes.count(), joins)


def find_last_reports_by_cause(joins: Iterable[BrokenJoin]) -> Mapping[tuple[str, str], datetime]:
    """Return the time of the last report of each cause, by diagnosis and environment."""
    return {(cause.kind, cause.environment): cause.last_reported_at for cause in group_by_cause(joins)}


def find_reported_again(environment: Environment, period: Period, key: str = "") -> QuerySet[Outcome]:
    """Return the broken joins first reported before the period and last in it, the latest report first.

    key: their outcome key, "" for any.
    """
    start, _ = widen_to_quarters(period)
    joins = Outcome.objects.filter(
        environment=environment, broken=True, first_reported_at__lt=start, **period_filter("last_reported_at", period)
    )
    return sort_by_last_report(joins.filter(outcome_key=key) if key else joins).select_related("conversation")
