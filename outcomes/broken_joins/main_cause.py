"""Find the cause of most broken joins, for the overview of an environment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from outcomes.broken_joins.cause_starts import find_cause_starts
from outcomes.broken_joins.causes.groups import Cause, group_by_cause
from outcomes.broken_joins.diagnosed_joins import NEWEST_DIAGNOSED, diagnose_joins
from outcomes.broken_joins.queries import find_broken_joins
from outcomes.tallies.retention_of_joins import find_retention_days_if_pruned
from wire.time.period import Period
from workspaces.models import ApiKey, Environment


@dataclass(frozen=True)
class MainCause:
    """The cause of more than half of the newest broken joins of a period.

    join_count: how many joins were diagnosed.
    is_partial: whether there may be more, or retention has deleted older ones.
    api_key: the key that reported all joins of this cause, if one key did.
    since: the first diagnosed report of this cause, which may be before the period.
    is_start: whether the cause seems to have begun then (`CauseStart.is_certain`).
    """

    cause: Cause
    join_count: int
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
    is_partial = len(newest) == NEWEST_DIAGNOSED or find_retention_days_if_pruned(environment, period) is not None
    cause = causes[0]
    (start,) = find_cause_starts(environment, period, [cause], is_partial=is_partial).values()
    reporter = _find_reporter(environment, cause)
    return MainCause(cause, len(newest), is_partial, reporter, start.since, start.is_certain)


def _find_reporter(environment: Environment, cause: Cause) -> ApiKey | None:
    reporter = next(iter(cause.reporters)) if len(cause.reporters) == 1 else None
    return environment.workspace.api_keys.filter(pk=reporter).first() if reporter else None
