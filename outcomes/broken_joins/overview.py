"""Outcomes on the overview of an environment."""

from __future__ import annotations

from dataclasses import dataclass

from outcomes.broken_joins.cause_groups import Cause, group_by_cause
from outcomes.broken_joins.lookup import NEWEST_DIAGNOSED, diagnose_joins, find_broken_joins
from outcomes.tallies.series import Totals, read_totals
from wire.period import Period
from workspaces.models import Environment


@dataclass(frozen=True)
class OutcomesOverview:
    """The totals of a period and of the previous one, and why most joins break, if there is one main cause."""

    totals: Totals
    previous_totals: Totals
    main_cause: Cause | None


def read_outcomes_overview(environment: Environment, period: Period) -> OutcomesOverview:
    totals = read_totals(environment, period)
    cause = find_main_cause(environment, period) if totals.broken else None
    return OutcomesOverview(totals, read_totals(environment, period.previous()), cause)


def find_main_cause(environment: Environment, period: Period) -> Cause | None:
    """Return the cause of more than half of the newest broken joins; None where there is none."""
    newest = find_broken_joins(environment, period)[:NEWEST_DIAGNOSED]
    causes = group_by_cause(diagnose_joins(environment, newest))
    return causes[0] if causes and causes[0].count * 2 > sum(cause.count for cause in causes) else None
