"""The broken rate over time: what is still broken now of what was first reported then, out of the tallies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from outcomes.analytics.figures import Rate
from outcomes.tallies.bucket_spans import Parts
from outcomes.tallies.keys import of_segments
from outcomes.tallies.series import ALL_KEYS, chart_buckets, series
from wire.period import Period
from wire.time_buckets import Bucket
from workspaces.models import Environment

MAX_LINES = 8  # a chart has so many colours


@dataclass(frozen=True)
class Trend:
    """A rate for each environment of the workspace, or for each API key that reported to one of them."""

    buckets: Sequence[Bucket]
    rates: Sequence[Rate]

    @property
    def drawn(self) -> Sequence[Rate]:
        return self.rates[:MAX_LINES]


# Each reporter's tallies are looked up by its key: by time alone, those of all would be read for each segment.
BY_API_KEY = """
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


def by_environment(environment: Environment, period: Period) -> Trend:
    """This environment first, then those of its siblings that had reports."""
    shown = chart_buckets(environment, period)
    siblings = environment.workspace.environments.exclude(pk=environment.pk)
    rates = [rate_of(each, shown) for each in [environment, *siblings]]
    return Trend(shown, [rate for rate in rates if rate.total_reported])


def rate_of(environment: Environment, shown: Sequence[Bucket]) -> Rate:
    line = series(environment, shown, [ALL_KEYS])[ALL_KEYS]
    reported = [one + other for one, other in zip(line.outcomes, line.broken, strict=True)]
    return Rate(environment.name, line.broken, reported)


def by_api_key(environment: Environment, period: Period) -> Trend:
    """The key with most broken joins first; keys by their first characters, all that is stored of them."""
    shown = chart_buckets(environment, period)
    names = {key.pk: str(key) for key in environment.workspace.api_keys.all()}
    parts = Parts.of(tuple(shown))
    found: dict[int, Rate] = {}
    with connection.cursor() as cursor:
        cursor.execute(BY_API_KEY, {"environment": environment.pk, **of_segments(parts.segments)})
        rows = cursor.fetchall()
    for key, segment, start, outcomes, broken in rows:
        if key not in found:
            found[key] = Rate(names.get(key, "another key"), [0] * len(shown), [0] * len(shown))
        for bucket, sign in parts.uses[segment, start]:
            found[key].broken[bucket] += sign * broken
            found[key].reported[bucket] += sign * (outcomes + broken)
    told = [rate for rate in found.values() if rate.total_reported]
    return Trend(shown, sorted(told, key=lambda rate: (-rate.total_broken, -rate.total_reported, rate.name)))
