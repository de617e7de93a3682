"""Which API keys first reported the outcomes of an outcome key, and how many of these outcomes are broken joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wire.postgresql.replica import get_read_connection
from wire.tallies.spans import widen_to_quarters
from wire.time.period import Period
from workspaces.models import ApiKey, Environment

MAX_REPORTED = 5_000  # the latest outcomes, which are counted: no tally has both the outcome key and the API key

# The index by key and time gives the latest rows, however many the period has.
SELECT_REPORTERS = """
SELECT reported_by, count(*) FILTER (WHERE NOT broken), count(*) FILTER (WHERE broken)
FROM (
  SELECT reported_by, broken FROM outcomes_outcome
  WHERE environment_id = %(environment)s AND outcome_key = %(key)s
    AND first_reported_at >= %(start)s AND first_reported_at < %(end)s
  ORDER BY first_reported_at DESC LIMIT %(limit)s
) AS latest
GROUP BY reported_by ORDER BY count(*) DESC, reported_by
"""


@dataclass(frozen=True)
class Reporter:
    """The outcomes and broken joins that one API key was the first to report.

    api_key: None for those whose API key was not stored, or is not known any more.
    """

    api_key: ApiKey | None
    outcomes: int
    broken: int

    @property
    def reported(self) -> int:
        return self.outcomes + self.broken


def read_reporters(environment: Environment, period: Period, key: str) -> Sequence[Reporter]:
    """Count the latest MAX_REPORTED outcomes and broken joins of a key by API key, the API key with most first."""
    start, end = widen_to_quarters(period)
    parameters: dict[str, Any] = {
        "environment": environment.pk,
        "key": key,
        "start": start,
        "end": end,
        "limit": MAX_REPORTED,
    }
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_REPORTERS, parameters)
        rows = cursor.fetchall()
    api_keys = environment.workspace.api_keys.in_bulk([pk for pk, *_ in rows if pk is not None])
    return [Reporter(api_keys.get(pk), outcomes, broken_joins) for pk, outcomes, broken_joins in rows]
