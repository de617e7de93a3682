"""The broken rate over time: what is still broken now of what was first reported then, out of the tallies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from outcomes.charts import Rate
from outcomes.keys import of_segments
from outcomes.queries import ALL_KEYS, chart_buckets, series
from outcomes.tally import cover
from wire.buckets import Bucket
from wire.ranges import Range
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


BY_API_KEY = """
SELECT api_key, position, sum(outcomes)::bigint, sum(broken)::bigint
FROM unnest(%(positions)s::int[], %(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
  AS segment (position, grain, since, till)
CROSS JOIN LATERAL (
  SELECT api_key, outcomes, broken FROM outcomes_apikeytally
  WHERE environment_id = %(environment)s AND grain = segment.grain AND starts_at >= since AND starts_at < till
) AS part
GROUP BY api_key, position
"""


def by_environment(environment: Environment, range: Range) -> Trend:
    """This environment first, then those of its siblings that had reports."""
    shown = chart_buckets(environment, range)
    siblings = environment.workspace.environments.exclude(pk=environment.pk)
    rates = [rate_of(each, shown) for each in [environment, *siblings]]
    return Trend(shown, [rate for rate in rates if rate.total_reported])


def rate_of(environment: Environment, shown: Sequence[Bucket]) -> Rate:
    line = series(environment, shown, [ALL_KEYS])[ALL_KEYS]
    reported = [one + other for one, other in zip(line.outcomes, line.broken, strict=True)]
    return Rate(environment.name, line.broken, reported)


def by_api_key(environment: Environment, range: Range) -> Trend:
    """The key with most broken joins first; keys by their first characters, all that is stored of them."""
    shown = chart_buckets(environment, range)
    names = {key.pk: str(key) for key in environment.workspace.api_keys.all()}
    pieces = [(n, segment) for n, bucket in enumerate(shown) for segment in cover(bucket.start, bucket.end)]
    found: dict[int, Rate] = {}
    with connection.cursor() as cursor:
        query = {"environment": environment.pk, "positions": [position for position, _ in pieces]}
        cursor.execute(BY_API_KEY, {**query, **of_segments([segment for _, segment in pieces])})
        for key, position, outcomes, broken in cursor:
            empty = Rate(names.get(key, "another key"), [0] * len(shown), [0] * len(shown))
            rate = found.setdefault(key, empty)
            rate.broken[position], rate.reported[position] = broken, outcomes + broken
    told = [rate for rate in found.values() if rate.total_reported]
    return Trend(shown, sorted(told, key=lambda rate: (-rate.total_broken, -rate.total_reported, rate.name)))
