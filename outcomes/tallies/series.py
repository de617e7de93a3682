"""Totals and series of outcomes, read from tallies: never from the rows themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from outcomes.models import ALL_KEYS
from outcomes.tallies.first_and_last_data import find_first_data
from wire.postgresql.replica import get_read_connection
from wire.tallies.read_plan import plan_reads
from wire.tallies.spans import cover_period, segment_columns
from wire.time.buckets import Bucket, split_into_buckets
from wire.time.period import Period
from workspaces.models import Environment


@dataclass(frozen=True)
class Totals:
    """The counts of one period: conversations by their start, outcomes and broken joins by their first report.

    broken: outcomes that are still broken joins now.
    reports: how often outcomes and broken joins were reported, repeats included.
    """

    conversations: int = 0
    outcomes: int = 0
    broken: int = 0
    reports: int = 0

    @property
    def reported_outcomes(self) -> int:
        """Return the denominator of the broken rate: outcomes and broken joins."""
        return self.outcomes + self.broken


@dataclass(frozen=True)
class Series:
    """One number for each bucket.

    conversations: the conversations that started in it; only counted over all keys.
    reached: outcomes of conversations that started in it.
    """

    outcomes: list[int]
    broken: list[int]
    conversations: list[int]
    reached: list[int]


# A segment is a part of a period that tallies of one grain cover: quarter hours, days or months. Each is looked up
# and summed by itself: one join of all segments would scan every tally.
TALLIES_OF_SEGMENT = """
FROM outcomes_tally
WHERE environment_id = %(environment)s AND grain = segment.grain AND starts_at >= since AND starts_at < till
"""

SELECT_TOTALS = f"""
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

# Reads segment by segment, in the order in which tallies are stored. For each key, the quarter hours of a segment give
# one row together; days and months give a row each.
SELECT_SERIES = f"""
WITH segment AS (
  SELECT * FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
    WITH ORDINALITY AS segment (grain, since, till, number)
)
SELECT outcome_key, number - 1, date_part('epoch', since)::bigint, outcomes, broken, conversations, reached
FROM segment CROSS JOIN LATERAL (
  SELECT outcome_key, sum(outcomes)::bigint AS outcomes, sum(broken)::bigint AS broken,
         sum(conversations)::bigint AS conversations, sum(reached)::bigint AS reached
  {TALLIES_OF_SEGMENT} AND outcome_key = ANY(%(keys)s) GROUP BY outcome_key
) AS part
WHERE grain = 'q'
UNION ALL
SELECT outcome_key, number - 1, date_part('epoch', starts_at)::bigint, outcomes, broken, conversations, reached
FROM segment CROSS JOIN LATERAL (
  SELECT outcome_key, starts_at, sum(outcomes)::bigint AS outcomes, sum(broken)::bigint AS broken,
         sum(conversations)::bigint AS conversations, sum(reached)::bigint AS reached
  {TALLIES_OF_SEGMENT} AND outcome_key = ANY(%(keys)s) GROUP BY outcome_key, starts_at
) AS part
WHERE grain <> 'q'
"""


def read_totals(environment: Environment, period: Period) -> Totals:
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_TOTALS, {"environment": environment.pk, **segment_columns(cover_period(period))})
        return Totals(*(int(number) for number in cursor.fetchone()))


def chart_buckets(environment: Environment, period: Period) -> Sequence[Bucket]:
    """Return the buckets of a period, beginning with the bucket of the environment's first data."""
    period = period.begin_with_data(find_first_data(environment))
    return split_into_buckets(period.start, period.end, period.zone, period.step, elapsed_until=period.elapsed_until)


def find_step(period: Period, buckets: Sequence[Bucket]) -> str:
    """Return the step of the buckets of a period: an hour, a day or a month."""
    return period.begin_at(buckets[0].start if buckets else None).step


def read_series(environment: Environment, buckets: Sequence[Bucket], keys: Sequence[str]) -> Mapping[str, Series]:
    """Return the numbers of each bucket by key; ALL_KEYS stands for all keys together."""
    plan = plan_reads(tuple(buckets))
    series_by_key = {key: Series(*([0] * len(buckets) for _ in range(4))) for key in keys}
    parameters = {"environment": environment.pk, "keys": list(series_by_key), **segment_columns(plan.segments)}
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_SERIES, parameters)
        rows = cursor.fetchall()
    for key, segment_number, start, outcomes, broken_joins, conversations, reached_conversations in rows:
        series = series_by_key[key]
        for bucket_number, sign in plan.uses[segment_number, start]:
            series.outcomes[bucket_number] += sign * outcomes
            series.broken[bucket_number] += sign * broken_joins
            series.conversations[bucket_number] += sign * conversations
            series.reached[bucket_number] += sign * reached_conversations
    return series_by_key


def read_series_of_all_keys(environment: Environment, buckets: Sequence[Bucket]) -> Series:
    return read_series(environment, buckets, [ALL_KEYS])[ALL_KEYS]


def shift_buckets(period: Period, buckets: Sequence[Bucket]) -> Sequence[Bucket]:
    """Return the buckets of the previous period: they are at the same times of day, but whole weeks earlier.

    Those after the end of that period are empty, and the last one before them ends there.
    """
    if not buckets:
        return ()
    edges = (min(edge, period.compared_end) for edge in (*(bucket.start for bucket in buckets), buckets[-1].end))
    earlier_edges = pairwise(map(period.shift_back, edges))
    return [Bucket(*ends, bucket.label) for ends, bucket in zip(earlier_edges, buckets, strict=True)]
