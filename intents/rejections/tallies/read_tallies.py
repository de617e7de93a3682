"""The sums of verifications and rejections in a period, read from tallies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from intents.models import ALL_VERSIONS
from intents.rejections.filters import VERSIONS, RejectionFilters, narrow_result
from intents.rejections.tallies.series import ResultBucket, build_buckets, split_period
from intents.rejections.tallies.totals import Total
from intents.reports.operation_template import template_operation
from wire.postgresql.replica import get_read_connection
from wire.tallies.read_plan import plan_reads
from wire.tallies.spans import DAY, Segment, cover_period, segment_columns
from wire.time.buckets import Bucket
from wire.time.period import Period
from workspaces.models import Environment

NO_FILTERS = RejectionFilters()
NO_VERSION = 0  # stands for a version that was not reported
FORWARD_DAYS = 2 * DAY  # contains every reported time, because none is more than one day ahead

SEGMENTS = """
FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
  WITH ORDINALITY AS segment (grain, since, till, number)
"""
# Read days and months from the roll-up, and quarter hours from the tallies themselves.
TALLIES_OF_SEGMENTS = f"""
{SEGMENTS} CROSS JOIN LATERAL (
  SELECT environment_id, start AS starts_at, result, version, operation, count, last_at FROM intents_verificationtally
  WHERE segment.grain = 'q' AND environment_id = ANY(%(environments)s) AND start >= since AND start < till
    AND version = ANY(%(versions)s)
  UNION ALL
  SELECT environment_id, starts_at, result, version, operation, count, last_at FROM intents_verificationrollup
  WHERE segment.grain <> 'q' AND environment_id = ANY(%(environments)s) AND grain = segment.grain
    AND version = ANY(%(versions)s) AND starts_at >= since AND starts_at < till
) AS tally
WHERE cardinality(%(operations)s::text[]) = 0 OR operation = ANY(%(operations)s)
"""
# Look each segment up by itself (OFFSET 0): one join of all segments would scan every tally.
SUMS_OF_SEGMENTS = f"""
{SEGMENTS} CROSS JOIN LATERAL (
  SELECT starts_at, result, count, last_at FROM intents_verificationrollup
  WHERE environment_id = ANY(%(environments)s) AND grain = segment.grain AND version = {ALL_VERSIONS}
    AND starts_at >= since AND starts_at < till
  OFFSET 0
) AS tally
"""
SELECT_TOTALS = f"""
SELECT result, version, operation, sum(count)::bigint, max(last_at) {TALLIES_OF_SEGMENTS} GROUP BY 1, 2, 3
"""
SELECT_TOTALS_BY_RESULT = f"SELECT result, sum(count)::bigint, max(last_at) {SUMS_OF_SEGMENTS} GROUP BY 1"
# Sum all quarter hours of a segment together, each day and month by itself.
SELECT_SERIES = """
SELECT number - 1, date_part('epoch', CASE grain WHEN 'q' THEN since ELSE starts_at END)::bigint, result,
       sum(count)::bigint
{tallies} GROUP BY 1, 2, 3
"""
SELECT_FILTERED_SERIES = SELECT_SERIES.format(tallies=TALLIES_OF_SEGMENTS)
SELECT_WHOLE_SERIES = SELECT_SERIES.format(tallies=SUMS_OF_SEGMENTS)


def load_totals(environment: Environment, period: Period, filters: RejectionFilters = NO_FILTERS) -> Sequence[Total]:
    """Sum the verifications by result, version and operation; the filter on the reason is not applied."""
    return _read_totals([environment.pk], cover_period(period), filters)


def load_totals_by_result(
    environment: Environment, period: Period, filters: RejectionFilters = NO_FILTERS
) -> Sequence[Total]:
    """Sum the verifications as `load_totals` does, but leave their versions and operations out if no filter needs them.

    Then the roll-up has what is needed, with a twentieth of the rows.
    """
    segments = cover_period(period)
    if filters.version or filters.operation:
        return _read_totals([environment.pk], segments, filters)
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_TOTALS_BY_RESULT, tallies_query([environment.pk], segments, filters))
        return [Total(result, NO_VERSION, "", count, last_at) for result, count, last_at in cursor.fetchall()]


def _read_totals(environments: Sequence[int], segments: Sequence[Segment], filters: RejectionFilters) -> list[Total]:
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_TOTALS, tallies_query(environments, segments, filters))
        return [Total(*row) for row in cursor.fetchall()]


def load_buckets(
    environment: Environment, period: Period, filters: RejectionFilters = NO_FILTERS
) -> Sequence[ResultBucket]:
    """Count the verifications over time, as the filters select them."""
    if period.start >= period.end:
        return []
    buckets = split_period(period)
    counts = count_results(environment, buckets, filters)
    return build_buckets(
        period,
        (
            (bucket.start, result, count)
            for bucket, results in zip(buckets, counts, strict=True)
            for result, count in results.items()
        ),
    )


def count_results(
    environment: Environment, buckets: Sequence[Bucket], filters: RejectionFilters
) -> Sequence[Counter[str]]:
    """Count the verifications of each bucket by result, as the filters select them."""
    counts: Sequence[Counter[str]] = [Counter() for _ in buckets]
    if not buckets:
        return counts
    plan = plan_reads(tuple(buckets))
    with get_read_connection().cursor() as cursor:
        statement = SELECT_FILTERED_SERIES if filters.version or filters.operation else SELECT_WHOLE_SERIES
        cursor.execute(statement, tallies_query([environment.pk], plan.segments, filters))
        for segment_number, start, result, count in cursor.fetchall():
            for bucket_number, sign in plan.uses[segment_number, start]:
                counts[bucket_number][narrow_result(result, filters.reason)] += sign * count
    return [+results for results in counts]  # without results whose count was subtracted down to 0


def tallies_query(
    environments: Sequence[int], segments: Sequence[Segment], filters: RejectionFilters
) -> dict[str, Any]:
    return {
        "environments": list(environments),
        "versions": [filters.version] if filters.version else [NO_VERSION, *VERSIONS.values()],
        "operations": list_operations(filters),
        **segment_columns(segments),
    }


def list_operations(filters: RejectionFilters) -> list[str]:
    """Return the operation of the filter as it is, and its template, which may be what is stored; [] if it is empty."""
    return [filters.operation, template_operation(filters.operation)] if filters.operation else []
