"""Every read of outcomes that is answered from tallies: never from the rows themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.db import connection
from django.db.models import Min

from outcomes.analytics.figures import Line, rest_of
from outcomes.broken_joins.lookup import Cause, causes, diagnosed, still_broken
from outcomes.models import Tally
from outcomes.tallies.bucket_spans import Parts
from outcomes.tallies.keys import of_segments
from outcomes.tallies.spans import cover
from wire.period import Period
from wire.time_buckets import Bucket, split_into_buckets
from workspaces.models import Environment

ALL_KEYS = ""
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

# Segment by segment, as tallies lie by their time; days and months are told apart, quarter hours summed.
SERIES = f"""
WITH segment AS (
  SELECT * FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
    WITH ORDINALITY AS segment (grain, since, till, number)
)
SELECT outcome_key, number - 1, date_part('epoch', since)::bigint, outcomes, broken, conversations
FROM segment CROSS JOIN LATERAL (
  SELECT outcome_key, sum(outcomes)::bigint AS outcomes, sum(broken)::bigint AS broken,
         sum(conversations)::bigint AS conversations
  {TALLIES_OF_SEGMENT} AND outcome_key = ANY(%(keys)s) GROUP BY outcome_key
) AS part
WHERE grain = 'q'
UNION ALL
SELECT outcome_key, number - 1, date_part('epoch', starts_at)::bigint, outcomes, broken, conversations
FROM segment CROSS JOIN LATERAL (
  SELECT outcome_key, starts_at, sum(outcomes)::bigint AS outcomes, sum(broken)::bigint AS broken,
         sum(conversations)::bigint AS conversations
  {TALLIES_OF_SEGMENT} AND outcome_key = ANY(%(keys)s) GROUP BY outcome_key, starts_at
) AS part
WHERE grain <> 'q'
"""


def totals(environment: Environment, period: Period) -> Totals:
    with connection.cursor() as cursor:
        cursor.execute(TOTALS, {"environment": environment.pk, **of_segments(cover(period.start, period.end))})
        return Totals(*(int(value) for value in cursor.fetchone()))


def has_any(environment: Environment) -> bool:
    """Whether anything was ever reported or registered here."""
    return Tally.objects.filter(environment=environment, grain="m").exists()


@dataclass(frozen=True)
class Chart:
    """Outcomes over the range: a line for each of some keys, and one for all others.

    before: the first line's numbers in the period before, bucket by bucket; empty where that has nothing.
    """

    buckets: Sequence[Bucket]
    lines: Sequence[Line]
    before: Sequence[int] = ()


def chart(environment: Environment, period: Period, keys: Sequence[str], *, over: Sequence[str] = ()) -> Chart:
    """A line for each of `keys` that has outcomes; those in `over` stand neither by themselves nor in the rest."""
    shown = chart_buckets(environment, period)
    numbers = series(environment, shown, [*keys, *over, ALL_KEYS])
    lines = [Line(key, numbers[key].outcomes) for key in keys if any(numbers[key].outcomes)]
    hidden = [Line(key, numbers[key].outcomes) for key in over]
    rest = rest_of(numbers[ALL_KEYS].outcomes, [*lines, *hidden])
    lines = [*lines, *([Line(None, rest)] if any(rest) else [])]
    return Chart(shown, lines, outcomes_before(environment, period, shown, lines[0].key) if lines else ())


def key_chart(environment: Environment, period: Period, key: str) -> Chart:
    """One key by itself, without a line of all others."""
    found = chart(environment, period, [key])
    return Chart(found.buckets, [line for line in found.lines if line.key == key], found.before)


def outcomes_before(
    environment: Environment, period: Period, shown: Sequence[Bucket], key: str | None
) -> Sequence[int]:
    """A key's outcomes in the period before, in buckets at the same times of day so many weeks earlier."""
    if key is None or period.preset == "all":
        return ()
    moments = [*map(period.shift_back, [*(bucket.start for bucket in shown), shown[-1].end])] if shown else []
    earlier = [Bucket(*ends, bucket.label) for ends, bucket in zip(pairwise(moments), shown, strict=True)]
    numbers = series(environment, earlier, [key])[key].outcomes
    return numbers if any(numbers) else ()


def chart_buckets(environment: Environment, period: Period) -> Sequence[Bucket]:
    """The buckets of the range; of a range without a beginning, from the first month that has anything."""
    first = Tally.objects.filter(environment=environment, grain="m").aggregate(first=Min("starts_at"))["first"]
    start = max(period.start, first) if first and period.preset == "all" else period.start
    return split_into_buckets(min(start, period.end), period.end, period.zone, period.step)


@dataclass(frozen=True)
class Series:
    """One number for each bucket; conversations only over all keys."""

    outcomes: list[int]
    broken: list[int]
    conversations: list[int]


def series(environment: Environment, shown: Sequence[Bucket], keys: Sequence[str]) -> Mapping[str, Series]:
    """What began in each bucket by key; ALL_KEYS for all of them together."""
    parts = Parts.of(tuple(shown))
    found = {key: Series(*([0] * len(shown) for _ in range(3))) for key in keys}
    with connection.cursor() as cursor:
        cursor.execute(SERIES, {"environment": environment.pk, "keys": list(found), **of_segments(parts.segments)})
        rows = cursor.fetchall()
    for key, segment, start, outcomes, broken, conversations in rows:
        line = found[key]
        for bucket, sign in parts.uses[segment, start]:
            line.outcomes[bucket] += sign * outcomes
            line.broken[bucket] += sign * broken
            line.conversations[bucket] += sign * conversations
    return found


@dataclass(frozen=True)
class Overview:
    """Outcomes on the overview page: now, in the period before, and why most joins break, if one cause rules."""

    now: Totals
    before: Totals
    main_cause: Cause | None


def overview(environment: Environment, period: Period) -> Overview:
    now = totals(environment, period)
    cause = main_cause(environment, period) if now.broken else None
    return Overview(now, totals(environment, period.previous()), cause)


def main_cause(environment: Environment, period: Period) -> Cause | None:
    """The cause of more than half of the newest broken joins; None where none rules."""
    newest = still_broken(environment, period)[:CAUSE_FROM]
    found = causes(diagnosed(environment, newest))
    return found[0] if found and found[0].count * 2 > sum(cause.count for cause in found) else None
