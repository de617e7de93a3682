"""Two environments side by side: how many of which key, and of how many conversations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from outcomes.charts import Line
from outcomes.keys import of_segments
from outcomes.queries import ALL_KEYS, Chart, Totals, chart_buckets, series, totals
from outcomes.tally import cover
from wire.ranges import Range
from workspaces.models import Environment


@dataclass(frozen=True)
class PairLine:
    """One key in both environments; `reached` as in KeyLine."""

    key: str
    outcomes: int
    reached: int
    outcomes_there: int
    reached_there: int


PAIRS = """
SELECT outcome_key,
       coalesce(sum(outcomes) FILTER (WHERE looked_in = %(here)s), 0)::bigint AS outcomes,
       coalesce(sum(reached) FILTER (WHERE looked_in = %(here)s), 0)::bigint AS reached,
       coalesce(sum(outcomes) FILTER (WHERE looked_in = %(there)s), 0)::bigint AS outcomes_there,
       coalesce(sum(reached) FILTER (WHERE looked_in = %(there)s), 0)::bigint AS reached_there
FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS segment (grain, since, till)
CROSS JOIN unnest(ARRAY[%(here)s, %(there)s]::bigint[]) AS looked_in
CROSS JOIN LATERAL (
  SELECT outcome_key, sum(outcomes) AS outcomes, sum(reached) AS reached FROM outcomes_tally
  WHERE environment_id = looked_in AND grain = segment.grain AND starts_at >= since AND starts_at < till
    AND outcome_key <> ''
    AND (%(search)s = '' OR position(lower(%(search)s COLLATE "default") IN lower(outcome_key COLLATE "default")) > 0)
  GROUP BY outcome_key
) AS part
GROUP BY outcome_key HAVING sum(outcomes) > 0
ORDER BY sum(outcomes) DESC, outcome_key
"""


def pairs(
    here: Environment, there: Environment, range: Range, *, search: str = "", limit: int | None = None
) -> Iterator[PairLine]:
    """The keys of either, most outcomes first."""
    query = {
        "here": here.pk,
        "there": there.pk,
        "search": search.replace("\0", ""),
        "limit": limit,
        **of_segments(cover(range.start, range.end)),
    }
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"{PAIRS} LIMIT %(limit)s", query)
        for row in cursor:
            yield PairLine(*row)


@dataclass(frozen=True)
class Both:
    """Both environments' totals, and a line of all outcomes for each."""

    here: Totals
    there: Totals
    chart: Chart


def both(here: Environment, there: Environment, range: Range) -> Both:
    shown = min((chart_buckets(each, range) for each in (here, there)), key=lambda buckets: buckets[0].start)
    lines = [Line(each.name, series(each, shown, [ALL_KEYS])[ALL_KEYS].outcomes) for each in (here, there)]
    return Both(totals(here, range), totals(there, range), Chart(shown, lines))


def sibling(environment: Environment, name: str) -> Environment | None:
    """Another environment of the same workspace, by its exact name."""
    others = environment.workspace.environments.exclude(pk=environment.pk)
    return others.filter(name=name).first() if name else None
