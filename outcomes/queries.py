"""Every read of outcomes that is answered from tallies: never from the rows themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Min

from outcomes.broken_joins import Cause, causes, diagnosed, still_broken
from outcomes.buckets import Bucket, buckets
from outcomes.charts import Line, with_rest
from outcomes.models import Tally
from outcomes.tally import Segment, cover
from wire.ranges import Range
from workspaces.models import Environment

ALL_KEYS = ""
LINES = 5  # keys with a line of their own in a chart
CAUSE_FROM = 500  # the newest broken joins, whose causes stand for all on the overview


@dataclass(frozen=True)
class Totals:
    """What began in a span of time: conversations by their start, the others by their first report.

    broken: outcomes that are still broken joins now; reports: of outcomes and broken joins together.
    """

    conversations: int = 0
    outcomes: int = 0
    broken: int = 0
    reports: int = 0

    @property
    def reported(self) -> int:
        """What a broken rate is a rate of."""
        return self.outcomes + self.broken


@dataclass(frozen=True)
class KeyLine:
    """One outcome key in a range, as a row of the page's table.

    reached: outcomes, whenever reported, of conversations that started in the range; before: outcomes of the
    period before.
    """

    key: str
    outcomes: int
    broken: int
    reports: int
    reached: int
    before: int
    first_reported_at: datetime | None
    last_reported_at: datetime | None


# Each segment is looked up and summed by itself: joined to the tallies as a whole, it would cost a pass over them.
TALLIES_OF_SEGMENT = """
FROM outcomes_tally
WHERE environment_id = %(environment)s AND grain = segment.grain AND starts_at >= since AND starts_at < till
"""

TOTALS = f"""
SELECT coalesce(sum(conversations), 0), coalesce(sum(outcomes), 0), coalesce(sum(broken), 0),
       coalesce(sum(reports), 0)
FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
  AS segment (grain, since, till)
CROSS JOIN LATERAL (
  SELECT sum(conversations) AS conversations, sum(outcomes) AS outcomes, sum(broken) AS broken,
         sum(reports) AS reports
  {TALLIES_OF_SEGMENT} AND outcome_key = ''
) AS part
"""

KEYS = f"""
SELECT outcome_key,
       coalesce(sum(outcomes) FILTER (WHERE is_now), 0) AS outcomes,
       coalesce(sum(broken) FILTER (WHERE is_now), 0) AS broken,
       coalesce(sum(reports) FILTER (WHERE is_now), 0) AS reports,
       coalesce(sum(reached) FILTER (WHERE is_now), 0) AS reached,
       coalesce(sum(outcomes) FILTER (WHERE NOT is_now), 0) AS before,
       min(first_reported_at) FILTER (WHERE is_now) AS first_reported_at,
       max(last_reported_at) FILTER (WHERE is_now) AS last_reported_at,
       count(*) OVER () AS keys
FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[], %(is_now)s::bool[])
  AS segment (grain, since, till, is_now)
CROSS JOIN LATERAL (
  SELECT outcome_key, sum(outcomes) AS outcomes, sum(broken) AS broken, sum(reports) AS reports,
         sum(reached) AS reached, min(first_reported_at) AS first_reported_at,
         max(last_reported_at) AS last_reported_at
  {TALLIES_OF_SEGMENT} AND outcome_key <> '' GROUP BY outcome_key
) AS part
GROUP BY outcome_key
HAVING sum(reports) > 0
ORDER BY outcomes DESC, broken DESC, before DESC, outcome_key
"""

SERIES = f"""
SELECT position, outcome_key, sum(outcomes), sum(broken), sum(conversations)
FROM unnest(%(positions)s::int[], %(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
  AS segment (position, grain, since, till)
CROSS JOIN LATERAL (
  SELECT outcome_key, sum(outcomes) AS outcomes, sum(broken) AS broken, sum(conversations) AS conversations
  {TALLIES_OF_SEGMENT} AND outcome_key = ANY(%(keys)s) GROUP BY outcome_key
) AS part
GROUP BY position, outcome_key
"""


def totals(environment: Environment, range: Range) -> Totals:
    with connection.cursor() as cursor:
        cursor.execute(TOTALS, {"environment": environment.pk, **parameters(cover(range.start, range.end))})
        return Totals(*(int(value) for value in cursor.fetchone()))


def has_any(environment: Environment) -> bool:
    """Whether anything was ever reported or registered here."""
    return Tally.objects.filter(environment=environment, grain="m").exists()


def leading_keys(environment: Environment, range: Range, limit: int) -> tuple[Sequence[KeyLine], int]:
    """The first keys of `keys`, and how many there are in all."""
    with connection.cursor() as cursor:
        cursor.execute(f"{KEYS} LIMIT %(limit)s", {**key_parameters(environment, range), "limit": limit})
        rows = cursor.fetchall()
    return [key_line(row) for row in rows], rows[0][-1] if rows else 0


def keys(environment: Environment, range: Range, *, start: int = 0, limit: int | None = None) -> Iterator[KeyLine]:
    """Keys reported in the range or the period before it; most outcomes first, ties by code point."""
    page = {"limit": limit, "start": start}
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"{KEYS} LIMIT %(limit)s OFFSET %(start)s", {**key_parameters(environment, range), **page})
        yield from map(key_line, cursor)


def key_line(row: Sequence[Any]) -> KeyLine:
    key, outcomes, broken, reports, reached, before, first, last, _ = row
    return KeyLine(key, *map(int, (outcomes, broken, reports, reached, before)), first, last)


def key_parameters(environment: Environment, range: Range) -> dict[str, Any]:
    before = range.before()
    now_segments, before_segments = cover(range.start, range.end), cover(before.start, before.end)
    is_now = [True] * len(now_segments) + [False] * len(before_segments)
    return {"environment": environment.pk, "is_now": is_now, **parameters([*now_segments, *before_segments])}


@dataclass(frozen=True)
class Chart:
    """Outcomes over the range: a line for each of the leading keys, and one for all others."""

    buckets: Sequence[Bucket]
    lines: Sequence[Line]


def chart(environment: Environment, range: Range, leading: Sequence[KeyLine] = ()) -> Chart:
    """leading: the first of `leading_keys`, where they have been read already."""
    shown = chart_buckets(environment, range)
    leading = leading or leading_keys(environment, range, LINES)[0]
    named = [line.key for line in leading[:LINES] if line.outcomes]
    numbers = series(environment, shown, [*named, ALL_KEYS])
    lines = [Line(key, numbers[key].outcomes) for key in named]
    return Chart(shown, with_rest(lines, numbers[ALL_KEYS].outcomes))


def chart_buckets(environment: Environment, range: Range) -> Sequence[Bucket]:
    """The buckets of the range; of a range without a beginning, from the first month that has anything."""
    first = Tally.objects.filter(environment=environment, grain="m").aggregate(first=Min("starts_at"))["first"]
    start = max(range.start, first) if first and range.preset == "all" else range.start
    return buckets(min(start, range.end), range.end, range.zone, range.step)


@dataclass(frozen=True)
class Series:
    """One number for each bucket; conversations only over all keys."""

    outcomes: list[int]
    broken: list[int]
    conversations: list[int]


def series(environment: Environment, shown: Sequence[Bucket], keys: Sequence[str]) -> Mapping[str, Series]:
    """What began in each bucket by key; ALL_KEYS for all of them together."""
    pieces = [(n, segment) for n, bucket in enumerate(shown) for segment in cover(bucket.start, bucket.end)]
    query = {
        "environment": environment.pk,
        "keys": list(keys),
        "positions": [position for position, _ in pieces],
        **parameters([segment for _, segment in pieces]),
    }
    found = {key: Series(*([0] * len(shown) for _ in range(3))) for key in keys}
    with connection.cursor() as cursor:
        cursor.execute(SERIES, query)
        for position, key, *numbers in cursor:
            line = found[key]
            line.outcomes[position], line.broken[position], line.conversations[position] = map(int, numbers)
    return found


def parameters(segments: Sequence[Segment]) -> dict[str, Any]:
    return {
        "grains": [segment.grain for segment in segments],
        "starts": [segment.start for segment in segments],
        "ends": [segment.end for segment in segments],
    }


@dataclass(frozen=True)
class Overview:
    """Outcomes on the overview page: now, in the period before, and why most joins break, if one cause rules."""

    now: Totals
    before: Totals
    main_cause: Cause | None


def overview(environment: Environment, range: Range) -> Overview:
    now = totals(environment, range)
    cause = main_cause(environment, range) if now.broken else None
    return Overview(now, totals(environment, range.before()), cause)


def main_cause(environment: Environment, range: Range) -> Cause | None:
    """The cause of more than half of the newest broken joins; None where none rules."""
    newest = still_broken(environment, range)[:CAUSE_FROM]
    found = causes(diagnosed(environment, newest))
    return found[0] if found and found[0].count * 2 > sum(cause.count for cause in found) else None
