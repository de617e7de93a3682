"""Two environments side by side: how many of which key, and of how many conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import connection

from outcomes.analytics.figures import Line
from outcomes.tallies.keys import containing, holding, of_segments
from outcomes.tallies.series import ALL_KEYS, Chart, Totals, chart_buckets, series, totals
from outcomes.tallies.spans import cover
from outcomes.tallies.top_keys import FEW, FEW_HOLD_IT, deeper, is_short, largest
from wire.period import Period
from workspaces.models import Environment


@dataclass(frozen=True)
class PairLine:
    """One key in both environments; `reached` as in KeyLine."""

    key: str
    outcomes: int
    reached: int
    outcomes_there: int
    reached_there: int

    @property
    def in_both(self) -> int:
        return self.outcomes + self.outcomes_there


PAIRS = f"""
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
    AND (%(named)s::text[] IS NULL AND outcome_key <> '' OR outcome_key = ANY(%(named)s))
    AND {containing("outcome_key")}
  GROUP BY outcome_key
) AS part
GROUP BY outcome_key HAVING sum(outcomes) > 0
ORDER BY sum(outcomes) DESC, outcome_key
"""


def pairs(
    here: Environment,
    there: Environment,
    period: Period,
    *,
    search: str = "",
    limit: int | None = None,
    only: Sequence[str] | None = None,
) -> Iterator[PairLine]:
    """The keys of either, most outcomes first; only: no other keys than these."""
    query = {
        "here": here.pk,
        "there": there.pk,
        "search": search,
        "limit": limit,
        "named": only,
        **of_segments(cover(period.start, period.end)),
    }
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"{PAIRS} LIMIT %(limit)s", query)
        for row in cursor:
            yield PairLine(*row)


def leading(
    here: Environment, there: Environment, period: Period, limit: int, *, search: str = ""
) -> Sequence[PairLine]:
    """The first so many of `pairs`, told as the leading keys of one environment are (see outcomes.leaders)."""
    only = few_holding(here, there, search)
    short = all(is_short(each, period) for each in (here, there))
    for depths in deeper(limit) if only is None and not short else ():
        found = largest(here, period, depths, search).beside(largest(there, period, depths, search))
        if found.complete:
            only = list(found.seen) if search else None
            break
        candidates, others_at_most = found.may_lead(limit)
        if len(candidates) <= FEW * limit:
            lines = list(pairs(here, there, period, search=search, limit=limit, only=candidates))
            if len(lines) == limit and lines[-1].in_both > others_at_most:
                return lines
    return list(pairs(here, there, period, search=search, limit=limit, only=only))


def few_holding(here: Environment, there: Environment, search: str) -> Sequence[str] | None:
    """All keys of either that hold the text, where they are few."""
    if not search:
        return None
    found = {key for each in (here, there) for key in holding(each, search, limit=FEW_HOLD_IT + 1)}
    return list(found) if len(found) <= FEW_HOLD_IT else None


@dataclass(frozen=True)
class Both:
    """Both environments' totals, and a line of all outcomes for each."""

    here: Totals
    there: Totals
    chart: Chart


def both(here: Environment, there: Environment, period: Period) -> Both:
    shown = min((chart_buckets(each, period) for each in (here, there)), key=lambda buckets: buckets[0].start)
    lines = [Line(each.name, series(each, shown, [ALL_KEYS])[ALL_KEYS].outcomes) for each in (here, there)]
    return Both(totals(here, period), totals(there, period), Chart(shown, lines))


def sibling(environment: Environment, name: str) -> Environment | None:
    """Another environment of the same workspace, by its exact name."""
    others = environment.workspace.environments.exclude(pk=environment.pk)
    return others.filter(name=name).first() if name else None
