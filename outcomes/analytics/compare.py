"""Compare two environments: their totals, and the outcomes of each key in environments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from outcomes.analytics.chart_data import Chart, ChartLine
from outcomes.tallies.keys import contains_search
from outcomes.tallies.series import Totals, chart_buckets, read_series_of_all_keys, read_totals
from outcomes.tallies.top_keys import find_top_keys
from wire.period import Period
from wire.postgresql.replica import get_read_connection
from wire.table_exports import ensure_transaction
from wire.tallies.spans import cover_period, segment_columns
from workspaces.models import Environment


@dataclass(frozen=True)
class KeyComparison:
    """One key in an environment and in its sibling; `reached` as in KeyTotals."""

    key: str
    outcomes: int
    reached: int
    sibling_outcomes: int
    sibling_reached: int

    @property
    def outcomes_of_both(self) -> int:
        return self.outcomes + self.sibling_outcomes


@dataclass(frozen=True)
class EnvironmentComparison:
    """The totals of an environment and of its sibling, and a line of all outcomes for each."""

    totals: Totals
    sibling_totals: Totals
    chart: Chart


SELECT_KEY_COMPARISONS = f"""
SELECT outcome_key,
       coalesce(sum(outcomes) FILTER (WHERE compared = %(environment)s), 0)::bigint AS outcomes,
       coalesce(sum(reached) FILTER (WHERE compared = %(environment)s), 0)::bigint AS reached,
       coalesce(sum(outcomes) FILTER (WHERE compared = %(sibling)s), 0)::bigint AS sibling_outcomes,
       coalesce(sum(reached) FILTER (WHERE compared = %(sibling)s), 0)::bigint AS sibling_reached
FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS segment (grain, since, till)
CROSS JOIN unnest(ARRAY[%(environment)s, %(sibling)s]::bigint[]) AS compared
CROSS JOIN LATERAL (
  SELECT outcome_key, sum(outcomes) AS outcomes, sum(reached) AS reached FROM outcomes_tally
  WHERE environment_id = compared AND grain = segment.grain AND starts_at >= since AND starts_at < till
    AND (%(keys)s::text[] IS NULL AND outcome_key <> '' OR outcome_key = ANY(%(keys)s))
    AND {contains_search("outcome_key")}
  GROUP BY outcome_key
) AS part
GROUP BY outcome_key HAVING sum(outcomes) > 0
ORDER BY sum(outcomes) DESC, outcome_key
LIMIT %(limit)s
"""


def compare_environments(environment: Environment, sibling: Environment, period: Period) -> EnvironmentComparison:
    environments = (environment, sibling)
    buckets = min((chart_buckets(compared, period) for compared in environments), key=lambda buckets: buckets[0].start)
    lines = [ChartLine(compared.name, read_series_of_all_keys(compared, buckets).outcomes) for compared in environments]
    return EnvironmentComparison(read_totals(environment, period), read_totals(sibling, period), Chart(buckets, lines))


def stream_key_comparisons(
    environment: Environment,
    sibling: Environment,
    period: Period,
    *,
    search: str = "",
    limit: int | None = None,
    only: Sequence[str] | None = None,
) -> Iterator[KeyComparison]:
    """Yield the keys of either environment, most outcomes first; only: no other keys than these."""
    query: dict[str, Any] = {
        "environment": environment.pk,
        "sibling": sibling.pk,
        "search": search,
        "limit": limit,
        "keys": only,
        **segment_columns(cover_period(period)),
    }
    # A transaction, because the page has none, and poolers in transaction mode lose a cursor that outlives it.
    with ensure_transaction(), get_read_connection().chunked_cursor() as cursor:
        cursor.execute(SELECT_KEY_COMPARISONS, query)
        for row in cursor:
            yield KeyComparison(*row)


def compare_top_keys(
    environment: Environment, sibling: Environment, period: Period, limit: int, *, search: str = ""
) -> Sequence[KeyComparison]:
    """Return the first `limit` of `stream_key_comparisons`, without reading all keys where that is possible."""

    def read_rows(only: Sequence[str] | None) -> Sequence[KeyComparison]:
        return list(stream_key_comparisons(environment, sibling, period, search=search, limit=limit, only=only))

    rank_by = attrgetter("outcomes_of_both")
    rows, only = find_top_keys([environment, sibling], period, limit, read_rows, rank_by, search=search)
    return rows or read_rows(only)


def find_sibling(environment: Environment, name: str) -> Environment | None:
    """Return another environment of the same workspace by its exact name."""
    siblings = environment.workspace.environments.exclude(pk=environment.pk)
    return siblings.filter(name=name).first() if name else None
