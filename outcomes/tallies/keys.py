"""Outcome keys of a range, out of the tallies: a page of them, all of them, and those that look alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from outcomes.models import FORM_OF_KEY
from outcomes.tallies.spans import Segment, cover
from wire.period import Period
from workspaces.models import Environment

FORM = FORM_OF_KEY % {"expressions": "outcome_key"}
FORM_OF_GIVEN = FORM_OF_KEY % {"expressions": "given.outcome_key"}


@dataclass(frozen=True)
class KeyLine:
    """One outcome key in a range, as a row of the page's table.

    reached: outcomes, whenever reported, of conversations that started in the range; before: outcomes of the
    period before. A line of many keys together has key "" and says how many in `keys`.
    """

    key: str
    outcomes: int = 0
    broken: int = 0
    reports: int = 0
    reached: int = 0
    before: int = 0
    first_reported_at: datetime | None = None
    last_reported_at: datetime | None = None
    keys: int = 1

    @property
    def rank(self) -> tuple[int | str, ...]:
        """The order of the table: most outcomes first, ties by broken joins, by the period before, by code point."""
        return -self.outcomes, -self.broken, -self.before, self.key

    def of(self, keys: int) -> KeyLine:
        """The same as the line of so many keys together."""
        return replace(self, keys=keys)

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.outcomes, self.broken, self.reports, self.reached, self.before


@dataclass(frozen=True)
class KeyPage:
    """Keys from the one after `start` on, the `leading` ones of all, and what all of them come to.

    counted: whether `everything.keys` is their number; else there are at least so many.
    """

    lines: Sequence[KeyLine]
    leading: Sequence[KeyLine]
    everything: KeyLine
    counted: bool = True

    def others(self, shown: Sequence[KeyLine]) -> KeyLine:
        """All keys but the shown ones, as one line."""
        columns = zip(*(line.numbers for line in shown), strict=True) if shown else [()] * 5
        rest = [total - sum(column) for total, column in zip(self.everything.numbers, columns, strict=True)]
        return KeyLine("", *rest, keys=self.everything.keys - len(shown))


def containing(column: str) -> str:
    """SQL: the text looked for is empty or part of the key, whatever its case."""
    text, looked_for = f'lower({column} COLLATE "default")', 'lower(%(search)s COLLATE "default")'
    return f"(%(search)s = '' OR position({looked_for} IN {text}) > 0)"


# Each segment is looked up by itself (OFFSET 0): joined to the tallies as a whole, it would cost a pass over them.
KEYS = f"""
SELECT outcome_key,
       coalesce(sum(outcomes) FILTER (WHERE is_now), 0)::bigint AS outcomes,
       coalesce(sum(broken) FILTER (WHERE is_now), 0)::bigint AS broken,
       coalesce(sum(reports) FILTER (WHERE is_now), 0)::bigint AS reports,
       coalesce(sum(reached) FILTER (WHERE is_now), 0)::bigint AS reached,
       coalesce(sum(outcomes) FILTER (WHERE NOT is_now), 0)::bigint AS before,
       min(first_reported_at) FILTER (WHERE is_now) AS first_reported_at,
       max(last_reported_at) FILTER (WHERE is_now) AS last_reported_at
FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[], %(is_now)s::bool[])
  AS segment (grain, since, till, is_now)
CROSS JOIN LATERAL (
  SELECT outcome_key, outcomes, broken, reports, reached, first_reported_at, last_reported_at FROM outcomes_tally
  WHERE environment_id = %(environment)s AND grain = segment.grain AND starts_at >= since AND starts_at < till
    AND (%(named)s::text[] IS NULL AND outcome_key <> '' OR outcome_key = ANY(%(named)s))
    AND {containing("outcome_key")}
  OFFSET 0
) AS part
GROUP BY outcome_key
HAVING sum(reports) > 0
"""
ORDER = "outcomes DESC, broken DESC, before DESC, outcome_key"

# Only the first rows of an order are asked for, twice, so that 100,000 keys need no sort.
PAGE = f"""
WITH found AS MATERIALIZED ({KEYS}), everything AS (
  SELECT count(*) AS keys, sum(outcomes), sum(broken), sum(reports), sum(reached), sum(before) FROM found
), shown AS (
  (SELECT true AS leads, * FROM found ORDER BY {ORDER} LIMIT %(lead)s)
  UNION ALL
  (SELECT false, * FROM found ORDER BY {ORDER} LIMIT %(limit)s OFFSET %(start)s)
)
SELECT * FROM everything LEFT JOIN shown ON true ORDER BY leads, {ORDER}
"""

# Keys of one form with a given one, other than itself; found by index, however many keys there are.
ALIKE = f"""
SELECT DISTINCT given.outcome_key, tally.outcome_key
FROM unnest(%(keys)s::text[]) AS given (outcome_key)
CROSS JOIN LATERAL (
  SELECT outcome_key FROM outcomes_tally
  WHERE environment_id = %(environment)s AND grain = 'm' AND {FORM} = {FORM_OF_GIVEN} OFFSET 0
) AS tally
WHERE tally.outcome_key <> given.outcome_key
"""


def page(
    environment: Environment,
    period: Period,
    *,
    search: str = "",
    start: int = 0,
    limit: int = 50,
    lead: int = 0,
    only: Sequence[str] | None = None,
) -> KeyPage:
    """Keys reported in the range or the period before it, most outcomes first, ties by code point.

    search: text that a key holds, whatever its case; only: no other keys than these.
    """
    with connection.cursor() as cursor:
        page = {"start": start, "limit": limit, "lead": lead}
        cursor.execute(PAGE, {**parameters(environment, period, search=search, named=only), **page})
        rows = cursor.fetchall()
    keys, *sums = (int(number or 0) for number in rows[0][:6])
    leading, lines = ([KeyLine(*row[7:]) for row in rows if row[6] is leads] for leads in (True, False))
    return KeyPage(lines, leading, KeyLine("", *sums, keys=keys))


# Of all time: what stands in a range is for the tallies to say.
HOLDING = """
SELECT outcome_key FROM outcomes_outcomekey
WHERE environment_id = %(environment)s AND position(lower(%(search)s COLLATE "default") IN lowered) > 0
LIMIT %(limit)s
"""


def holding(environment: Environment, search: str, *, limit: int) -> Sequence[str]:
    """Keys that were ever reported and hold this text, whatever its case; no more than `limit`, in no order."""
    with connection.cursor() as cursor:
        cursor.execute(HOLDING, {"environment": environment.pk, "search": search, "limit": limit})
        return [key for (key,) in cursor.fetchall()]


def every(environment: Environment, period: Period, *, search: str = "") -> Iterator[KeyLine]:
    """All keys in the order of `page`, streamed."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"{KEYS} ORDER BY {ORDER}", parameters(environment, period, search=search))
        for row in cursor:
            yield KeyLine(*row)


def named(environment: Environment, period: Period, keys: Sequence[str]) -> Mapping[str, KeyLine]:
    """These keys ("" for all of them together), with zeros for those that were not reported."""
    with connection.cursor() as cursor:
        cursor.execute(KEYS, parameters(environment, period, named=keys))
        found = {row[0]: KeyLine(*row) for row in cursor}
    return {key: found.get(key, KeyLine(key)) for key in keys}


def alike(environment: Environment, keys: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """For each of these keys others, of all time, that differ from it only by case, white space, `-` or `_`."""
    found: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(ALIKE, {"environment": environment.pk, "keys": list(keys)})
        for key, other in cursor:
            found.setdefault(key, []).append(other)
    return {key: sorted(others) for key, others in found.items()}


def parameters(
    environment: Environment, period: Period, *, search: str = "", named: Sequence[str] | None = None
) -> dict[str, Any]:
    before = period.previous()
    now_segments, before_segments = cover(period.start, period.end), cover(before.start, before.end)
    return {
        "environment": environment.pk,
        "is_now": [True] * len(now_segments) + [False] * len(before_segments),
        "named": None if named is None else list(named),
        "search": search,
        **of_segments([*now_segments, *before_segments]),
    }


def of_segments(segments: Sequence[Segment]) -> dict[str, Any]:
    return {
        "grains": [segment.grain for segment in segments],
        "starts": [segment.start for segment in segments],
        "ends": [segment.end for segment in segments],
    }
