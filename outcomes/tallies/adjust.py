"""Adjust tallies to outcomes that came, went or changed other than by a report; in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime

from django.db import connection

from outcomes.broken_joins.said import Said
from outcomes.ingest.report_sql import ADD_TO_API_KEY_TALLIES, ADD_TO_TALLIES, LANE, LANES
from workspaces.models import Environment


@dataclass(frozen=True)
class Change:
    """What the tallies of a key gain, or lose where negative, at a moment."""

    outcome_key: str
    at: datetime
    outcomes: int = 0
    broken: int = 0
    reports: int = 0
    reached: int = 0
    reported_by: int | None = None


def standing(key: str, said: Said, started_at: datetime | None, *, sign: int) -> Iterator[Change]:
    """What one outcome (a broken join, where its conversation never started) adds to tallies, or takes away."""
    kind = "broken" if started_at is None else "outcomes"
    yield Change(key, said.first, reports=sign * said.reports, reported_by=said.reported_by, **{kind: sign})
    if started_at is not None:
        yield Change(key, started_at, reached=sign)


CHANGE = """
change AS (
  SELECT outcome_key, at, outcomes, broken, reports, reached, 0 AS conversations, reported_by,
         NULL::timestamptz AS first_reported_at, NULL::timestamptz AS last_reported_at
  FROM unnest(%(keys)s::text[], %(at)s::timestamptz[], %(outcomes)s::int[], %(broken)s::int[], %(reports)s::bigint[],
              %(reached)s::int[], %(reported_by)s::bigint[])
    AS given (outcome_key, at, outcomes, broken, reports, reached, reported_by)
)"""

# Every tally that changes, in the order in which reports lock them; of all lanes, so that nobody else writes there.
LOCK = f"""
WITH {CHANGE}, touched AS (
  SELECT DISTINCT grain, label, starts_at
  FROM change
    CROSS JOIN LATERAL unnest(ARRAY[outcome_key, '']) AS label
    CROSS JOIN LATERAL (
      VALUES ('q', date_bin('15 minutes', at, '2000-01-01Z')), ('d', date_trunc('day', at, 'UTC')),
             ('m', date_trunc('month', at, 'UTC'))
    ) AS bucket (grain, starts_at)
)
SELECT 1 FROM outcomes_tally AS tally JOIN touched
  ON tally.environment_id = %(environment)s AND tally.grain = touched.grain
    AND tally.outcome_key = touched.label AND tally.starts_at = touched.starts_at
ORDER BY tally.grain, tally.outcome_key, tally.starts_at, lane FOR UPDATE OF tally
"""

# In a lane of its own, which only moves of this workspace use, one at a time: an insert there waits for nobody.
ADD = f"WITH {CHANGE}, {ADD_TO_TALLIES}, {ADD_TO_API_KEY_TALLIES} SELECT 1".replace(LANE, str(LANES))

# First and last reports cannot be subtracted, so they are read again: of quarter hours from the outcomes, of all else
# from the tallies one step finer. Each statement needs the one before it.
TIMES_OF_KEYS = """
UPDATE outcomes_tally AS tally SET first_reported_at = found.first, last_reported_at = found.last
FROM (
  SELECT DISTINCT outcome_key, date_bin('15 minutes', at, '2000-01-01Z') AS starts_at
  FROM unnest(%(keys)s::text[], %(at)s::timestamptz[]) AS given (outcome_key, at)
) AS touched
CROSS JOIN LATERAL (
  SELECT min(first_reported_at) AS first, max(last_reported_at) AS last FROM outcomes_outcome
  WHERE environment_id = %(environment)s AND outcome_key = touched.outcome_key
    AND first_reported_at >= touched.starts_at AND first_reported_at < touched.starts_at + interval '15 minutes'
) AS found
WHERE tally.environment_id = %(environment)s AND tally.grain = 'q' AND tally.outcome_key = touched.outcome_key
  AND tally.starts_at = touched.starts_at
"""
TIMES_OF_ALL_KEYS = """
UPDATE outcomes_tally AS tally SET first_reported_at = found.first, last_reported_at = found.last
FROM (
  SELECT DISTINCT date_bin('15 minutes', at, '2000-01-01Z') AS starts_at FROM unnest(%(at)s::timestamptz[]) AS at
) AS touched
CROSS JOIN LATERAL (
  SELECT min(first_reported_at) AS first, max(last_reported_at) AS last FROM outcomes_tally
  WHERE environment_id = %(environment)s AND grain = 'q' AND starts_at = touched.starts_at AND outcome_key <> ''
) AS found
WHERE tally.environment_id = %(environment)s AND tally.grain = 'q' AND tally.outcome_key = ''
  AND tally.starts_at = touched.starts_at
"""
TIMES_OF_COARSER = """
UPDATE outcomes_tally AS tally SET first_reported_at = found.first, last_reported_at = found.last
FROM (
  SELECT DISTINCT label, date_trunc(%(span)s, at, 'UTC') AS starts_at
  FROM unnest(%(keys)s::text[], %(at)s::timestamptz[]) AS given (outcome_key, at)
    CROSS JOIN LATERAL unnest(ARRAY[outcome_key, '']) AS label
) AS touched
CROSS JOIN LATERAL (
  SELECT min(first_reported_at) AS first, max(last_reported_at) AS last FROM outcomes_tally
  WHERE environment_id = %(environment)s AND grain = %(finer)s AND outcome_key = touched.label
    AND starts_at >= touched.starts_at
    AND starts_at < date_trunc(%(span)s, touched.starts_at + %(longest)s::interval, 'UTC')
) AS found
WHERE tally.environment_id = %(environment)s AND tally.grain = %(grain)s AND tally.outcome_key = touched.label
  AND tally.starts_at = touched.starts_at
"""
COARSER = (
    {"grain": "d", "finer": "q", "span": "day", "longest": "1 day"},
    {"grain": "m", "finer": "d", "span": "month", "longest": "31 days"},
)


def retally(environment: Environment, changes: Sequence[Change]) -> None:
    """Add these changes to the tallies; their outcomes must be written already."""
    names = ("keys", "at", "outcomes", "broken", "reports", "reached", "reported_by")
    columns = zip(*(astuple(change) for change in changes), strict=True)
    query = {"environment": environment.pk, **dict(zip(names, map(list, columns), strict=True))}
    with connection.cursor() as cursor:
        for statement in (LOCK, ADD, TIMES_OF_KEYS, TIMES_OF_ALL_KEYS):
            cursor.execute(statement, query)
        for coarser in COARSER:
            cursor.execute(TIMES_OF_COARSER, {**query, **coarser})
