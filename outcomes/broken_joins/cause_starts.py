"""Find when each cause of broken joins was first reported, also before the period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from outcomes.broken_joins.causes.groups import Cause
from outcomes.broken_joins.diagnosed_joins import diagnose_joins
from outcomes.broken_joins.queries import find_broken_joins
from outcomes.tallies.retention_of_joins import find_retention_days_if_pruned
from wire.time.period import Period
from wire.time.timestamps import EARLIEST
from workspaces.models import Environment

NEWEST_BEFORE = 200  # this many joins before the period are diagnosed, to find when a cause began


@dataclass(frozen=True)
class CauseStart:
    """The first diagnosed report of a cause, which may be before the period.

    is_certain: whether pages show `since` as the start of the cause. They add "or earlier" if the cause has a join
        among those diagnosed before the period and older joins were not diagnosed, or if no join before the period was.
        Joins that retention has deleted cannot be diagnosed.
    """

    since: datetime
    is_certain: bool


def find_cause_starts(
    environment: Environment, period: Period, causes: Sequence[Cause], *, key: str = "", is_partial: bool = False
) -> Mapping[tuple[str, str], CauseStart]:
    """Return the start of each of these causes of the period, by diagnosis and environment.

    key: the outcome key of their joins, "" for any.
    is_partial: whether only the newest joins of the period were diagnosed, so that nothing is known of older joins.
    """
    if is_partial or not causes or find_retention_days_if_pruned(environment, period):
        return {(cause.kind, cause.environment): CauseStart(cause.oldest, False) for cause in causes}
    before = replace(period, start=EARLIEST, end=period.start)
    joins = list(diagnose_joins(environment, find_broken_joins(environment, before, key)[:NEWEST_BEFORE]))
    has_older = len(joins) == NEWEST_BEFORE or find_retention_days_if_pruned(environment, before) is not None
    starts = {}
    for cause in causes:
        times = [join.first_reported_at for join in joins if join.matches(cause.kind, cause.environment)]
        is_certain = not times or not has_older
        starts[cause.kind, cause.environment] = CauseStart(min(times, default=cause.oldest), is_certain)
    return starts
