"""The broken rate over time, read from tallies: the share of a bucket's reported outcomes that is broken now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outcomes.broken_joins.queries import list_api_keys
from outcomes.tallies.series import chart_buckets, read_series_of_all_keys
from wire.charts.series_colours import MAX_SERIES
from wire.postgresql.replica import get_read_connection
from wire.tallies.read_plan import plan_reads
from wire.tallies.spans import cover_period, segment_columns
from wire.time.buckets import Bucket
from wire.time.period import Period
from workspaces.models import Environment


@dataclass(frozen=True)
class BrokenRate:
    """The numbers of one environment or API key in each bucket: broken joins, and all reported outcomes."""

    name: str
    broken_joins: list[int]
    reported_outcomes: list[int]

    @property
    def ratios(self) -> list[float | None]:
        buckets = zip(self.broken_joins, self.reported_outcomes, strict=True)
        return [round(broken_joins / outcomes, 4) if outcomes else None for broken_joins, outcomes in buckets]

    @property
    def total_broken(self) -> int:
        return sum(self.broken_joins)

    @property
    def total_reported(self) -> int:
        return sum(self.reported_outcomes)


@dataclass(frozen=True)
class RateChart:
    """A rate for each environment of the workspace, or for each API key that reported to one environment."""

    buckets: Sequence[Bucket]
    rates: Sequence[BrokenRate]

    @property
    def begun_buckets(self) -> Sequence[Bucket]:
        return [bucket for bucket in self.buckets if bucket.has_begun]

    @property
    def lines(self) -> Sequence[BrokenRate]:
        """Return the rates that are drawn; the export has all of them."""
        return self.rates[:MAX_SERIES]

    @property
    def rows(self) -> Sequence[tuple[Bucket, Sequence[tuple[int, int]]]]:
        """Return each bucket with the broken joins and the reported outcomes of each line, the latest first.

        Leave out buckets that have not begun, unless something was reported in them.
        """
        columns = [zip(line.broken_joins, line.reported_outcomes, strict=True) for line in self.lines]
        rows = list(zip(self.buckets, zip(*columns, strict=True), strict=True)) if columns else []
        return [row for row in reversed(rows) if row[0].has_begun or any(reported for _, reported in row[1])]


# Look up the tallies of each API key by the key. A look-up by time alone would read the tallies of all keys for every
# segment.
SELECT_BY_API_KEY = """
WITH reporter AS MATERIALIZED (
  SELECT DISTINCT api_key FROM outcomes_apikeytally WHERE environment_id = %(environment)s AND grain = 'm'
)
SELECT reporter.api_key, number - 1, date_part('epoch', at)::bigint, outcomes, broken
FROM reporter
CROSS JOIN unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
  WITH ORDINALITY AS segment (grain, since, till, number)
CROSS JOIN LATERAL (
  SELECT CASE segment.grain WHEN 'q' THEN since ELSE starts_at END AS at, sum(outcomes)::bigint AS outcomes,
         sum(broken)::bigint AS broken
  FROM outcomes_apikeytally AS tally
  WHERE environment_id = %(environment)s AND tally.grain = segment.grain AND tally.api_key = reporter.api_key
    AND starts_at >= since AND starts_at < till
  GROUP BY 1
) AS part
"""

SUM_BY_API_KEY = """
SELECT environment_id, api_key, sum(outcomes)::bigint, sum(broken)::bigint
FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS segment (grain, since, till)
CROSS JOIN LATERAL (
  SELECT environment_id, api_key, outcomes, broken FROM outcomes_apikeytally
  WHERE environment_id = ANY(%(environments)s) AND grain = segment.grain AND starts_at >= since AND starts_at < till
  OFFSET 0
) AS tally
GROUP BY 1, 2
"""


def read_rates_by_environment(environment: Environment, period: Period) -> RateChart:
    """Return the rate of this environment, then those of its siblings; leave out those without reports."""
    buckets = chart_buckets(environment, period)
    rates = [_read_rate(subject, buckets) for subject in [environment, *environment.readable_siblings]]
    return RateChart(buckets, [rate for rate in rates if rate.total_reported])


def _read_rate(environment: Environment, buckets: Sequence[Bucket]) -> BrokenRate:
    series = read_series_of_all_keys(environment, buckets)
    reported_outcomes = [
        outcomes + broken_joins for outcomes, broken_joins in zip(series.outcomes, series.broken, strict=True)
    ]
    return BrokenRate(environment.name, series.broken, reported_outcomes)


def sum_by_api_key(environments: Sequence[int], period: Period) -> Mapping[tuple[int, int], tuple[int, int]]:
    """Return the reported outcomes and the broken joins of a period, by the row ids of environment and API key."""
    parameters = {"environments": environments, **segment_columns(cover_period(period))}
    with get_read_connection().cursor() as cursor:
        cursor.execute(SUM_BY_API_KEY, parameters)
        rows = cursor.fetchall()
    return {(environment, api_key): (outcomes + broken, broken) for environment, api_key, outcomes, broken in rows}


def read_rates_by_api_key(environment: Environment, period: Period) -> RateChart:
    """Return the rates of the API keys, the key with most broken joins first."""
    buckets = chart_buckets(environment, period)
    api_keys = list_api_keys(environment)
    plan = plan_reads(tuple(buckets))
    rates: dict[int, BrokenRate] = {}
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_BY_API_KEY, {"environment": environment.pk, **segment_columns(plan.segments)})
        rows = cursor.fetchall()
    for api_key, segment_number, start, outcomes, broken_joins in rows:
        if api_key not in rates:
            name = str(api_keys.get(api_key, "another key"))
            rates[api_key] = BrokenRate(name, [0] * len(buckets), [0] * len(buckets))
        for bucket_number, sign in plan.uses[segment_number, start]:
            rates[api_key].broken_joins[bucket_number] += sign * broken_joins
            rates[api_key].reported_outcomes[bucket_number] += sign * (outcomes + broken_joins)
    reporting = [rate for rate in rates.values() if rate.total_reported]
    return RateChart(buckets, sorted(reporting, key=lambda rate: (-rate.total_broken, -rate.total_reported, rate.name)))
