"""Find the cause for which most joins break, for the overview of an environment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from outcomes.broken_joins.cause_groups import Cause, group_by_cause
from outcomes.broken_joins.lookup import NEWEST_DIAGNOSED, diagnose_joins, find_broken_joins
from wire.period import Period
from wire.timestamps import EARLIEST
from workspaces.models import ApiKey, Environment

NEWEST_BEFORE = 200  # this many joins before the period are diagnosed, to find when the cause began


@dataclass(frozen=True)
class MainCause:
    """The cause of more than half of the newest broken joins of a period.

    diagnosed: how many joins were diagnosed.
    is_partial: whether there are more.
    api_key: the key that reported all joins of this cause, if one key did.
    since: the first diagnosed report of this cause, which may be before the period.
    is_start: whether no earlier join can have this cause.
    """

    cause: Cause
    diagnosed: int
    is_partial: bool
    api_key: ApiKey | None
    since: datetime
    is_start: bool


def find_main_cause(environment: Environment, period: Period) -> MainCause | None:
    """Return the main cause of the joins that the page of broken joins diagnoses; None if there is none."""
    newest = list(diagnose_joins(environment, find_broken_joins(environment, period)[:NEWEST_DIAGNOSED]))
    causes = group_by_cause(newest)
    if not causes or causes[0].count * 2 <= len(newest):
        return None
    cause, is_partial = causes[0], len(newest) == NEWEST_DIAGNOSED
    since, is_start = (cause.oldest, False) if is_partial else _find_start(environment, period, cause)
    return MainCause(cause, len(newest), is_partial, _find_reporter(environment, cause), since, is_start)


def _find_start(environment: Environment, period: Period, cause: Cause) -> tuple[datetime, bool]:
    """Return when a cause was first reported, and whether that is certain: older joins may not have been diagnosed."""
    before = replace(period, start=EARLIEST, end=period.start)
    joins = list(diagnose_joins(environment, find_broken_joins(environment, before)[:NEWEST_BEFORE]))
    times = [join.first_reported_at for join in joins if join.matches(cause.kind, cause.environment)]
    return min(times, default=cause.oldest), not times or len(joins) < NEWEST_BEFORE


def _find_reporter(environment: Environment, cause: Cause) -> ApiKey | None:
    reporter = next(iter(cause.reporters)) if len(cause.reporters) == 1 else None
    return environment.workspace.api_keys.filter(pk=reporter).first() if reporter else None
