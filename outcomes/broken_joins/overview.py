"""Why most joins break, for the overview of an environment."""

from __future__ import annotations

from dataclasses import dataclass, replace

from outcomes.broken_joins.cause_groups import Cause, group_by_cause
from outcomes.broken_joins.lookup import (
    NEWEST_DIAGNOSED,
    diagnose_joins,
    find_broken_joins,
    list_api_key_names,
)
from wire.period import Period
from wire.timestamps import EARLIEST
from workspaces.models import Environment

NEWEST_BEFORE = 50  # joins before the period that are diagnosed


@dataclass(frozen=True)
class MainCause:
    """The cause of more than half of the newest broken joins of a period.

    diagnosed: how many joins were diagnosed, is_partial: whether there are more; api_key: the first characters of the
    key that reported all joins of this cause, or else ""; is_start: whether it began in the period: none of the joins
    right before has this cause.
    """

    cause: Cause
    diagnosed: int
    is_partial: bool
    api_key: str
    is_start: bool


def find_main_cause(environment: Environment, period: Period) -> MainCause | None:
    """Return the main cause of the joins that the page of broken joins diagnoses; None if there is none."""
    newest = list(diagnose_joins(environment, find_broken_joins(environment, period)[:NEWEST_DIAGNOSED]))
    causes = group_by_cause(newest)
    if not causes or causes[0].count * 2 <= len(newest):
        return None
    is_partial = len(newest) == NEWEST_DIAGNOSED
    return MainCause(
        cause=causes[0],
        diagnosed=len(newest),
        is_partial=is_partial,
        api_key=_name_reporter(environment, causes[0]),
        is_start=not is_partial and not _is_older(environment, period, causes[0]),
    )


def _is_older(environment: Environment, period: Period, cause: Cause) -> bool:
    """Whether a join right before the period has this cause."""
    before = replace(period, start=EARLIEST, end=period.start)
    joins = diagnose_joins(environment, find_broken_joins(environment, before)[:NEWEST_BEFORE])
    return any(join.matches(cause.kind, cause.environment) for join in joins)


def _name_reporter(environment: Environment, cause: Cause) -> str:
    reporter = next(iter(cause.reporters)) if len(cause.reporters) == 1 else None
    return list_api_key_names(environment).get(reporter, "") if reporter else ""
