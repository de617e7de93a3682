"""Adjust tallies to outcomes that were moved or deleted, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from outcomes.tallies.sharded_sql import ADD_TO_API_KEY_TALLIES, ADD_TO_OUTCOME_TALLIES
from wire.postgresql.named_lock import hold_named_lock
from wire.tallies.shards import SHARDS
from workspaces.models import Environment


@dataclass(frozen=True)
class TallyChange:
    """The numbers to add to the tallies of a key at a moment; negative numbers subtract.

    conversations: the number of conversations that started; only for ALL_KEYS.
    """

    outcome_key: str
    moment: datetime
    outcomes: int = 0
    broken: int = 0
    reports: int = 0
    reached: int = 0
    reported_by: int | None = None
    conversations: int = 0


CHANGE_PARAMETERS = ("keys", "moments", "outcomes", "broken", "reports", "reached", "reported_by", "conversations")
CHANGE = """
change AS (
  SELECT outcome_key, at, outcomes, broken, reports, reached, conversations, reported_by,
         NULL::timestamptz AS first_reported_at, NULL::timestamptz AS last_reported_at
  FROM unnest(%(keys)s::text[], %(moments)s::timestamptz[], %(outcomes)s::int[], %(broken)s::int[],
              %(reports)s::bigint[], %(reached)s::int[], %(reported_by)s::bigint[], %(conversations)s::int[])
    AS tally_change (outcome_key, at, outcomes, broken, reports, reached, reported_by, conversations)
)"""

# Lock every tally that changes, in all its shards and in the order in which reports lock, so that nobody else writes to
# it.
LOCK = f"""
WITH {CHANGE}, changed_tally AS (
  SELECT DISTINCT grain, label, starts_at
  FROM change
    CROSS JOIN LATERAL unnest(ARRAY[outcome_key, '']) AS label
    CROSS JOIN LATERAL (
      VALUES ('q', date_bin('15 minutes', at, '2000-01-01Z')), ('d', date_trunc('day', at, 'UTC')),
             ('m', date_trunc('month', at, 'UTC'))
    ) AS bucket (grain, starts_at)
)
SELECT 1 FROM outcomes_tally AS tally JOIN changed_tally
  ON tally.environment_id = %(environment)s AND tally.grain = changed_tally.grain
    AND tally.outcome_key = changed_tally.label AND tally.starts_at = changed_tally.starts_at
ORDER BY tally.grain, tally.outcome_key, tally.starts_at, lane FOR UPDATE OF tally
"""

# Add to a shard that reports never use. Such changes run one at a time, so an insert into that shard does not wait.
ADD = (
    f"WITH {CHANGE}, {ADD_TO_OUTCOME_TALLIES.format(shard=SHARDS)}, {ADD_TO_API_KEY_TALLIES.format(shard=SHARDS)}"
    " SELECT 1"
)

# Times of first and last reports cannot be subtracted, so they are read again: for quarter hours from the outcomes, for
# days and months from the tallies one step finer. Each statement needs the one before it. If retention has deleted all
# outcomes that a quarter hour still counts, its times stay.
REFRESH_TIMES_OF_KEYS = """
UPDATE outcomes_tally AS tally SET
  first_reported_at = coalesce(times.first, CASE WHEN counted > 0 THEN tally.first_reported_at END),
  last_reported_at = coalesce(times.last, CASE WHEN counted > 0 THEN tally.last_reported_at END)
FROM (
  SELECT DISTINCT outcome_key, date_bin('15 minutes', at, '2000-01-01Z') AS starts_at
  FROM unnest(%(keys)s::text[], %(moments)s::timestamptz[]) AS tally_change (outcome_key, at)
) AS changed_tally
CROSS JOIN LATERAL (
  SELECT min(first_reported_at) AS first, max(last_reported_at) AS last FROM outcomes_outcome
  WHERE environment_id = %(environment)s AND outcome_key = changed_tally.outcome_key
    AND first_reported_at >= changed_tally.starts_at
    AND first_reported_at < changed_tally.starts_at + interval '15 minutes'
) AS times
CROSS JOIN LATERAL (
  SELECT sum(outcomes + broken) AS counted FROM outcomes_tally
  WHERE environment_id = %(environment)s AND grain = 'q' AND outcome_key = changed_tally.outcome_key
    AND starts_at = changed_tally.starts_at
) AS remaining
WHERE tally.environment_id = %(environment)s AND tally.grain = 'q' AND tally.outcome_key = changed_tally.outcome_key
  AND tally.starts_at = changed_tally.starts_at
"""
REFRESH_TIMES_OF_ALL_KEYS = """
UPDATE outcomes_tally AS tally SET first_reported_at = times.first, last_reported_at = times.last
FROM (
  SELECT DISTINCT date_bin('15 minutes', at, '2000-01-01Z') AS starts_at FROM unnest(%(moments)s::timestamptz[]) AS at
) AS changed_tally
CROSS JOIN LATERAL (
  SELECT min(first_reported_at) AS first, max(last_reported_at) AS last FROM outcomes_tally
  WHERE environment_id = %(environment)s AND grain = 'q' AND starts_at = changed_tally.starts_at AND outcome_key <> ''
) AS times
WHERE tally.environment_id = %(environment)s AND tally.grain = 'q' AND tally.outcome_key = ''
  AND tally.starts_at = changed_tally.starts_at
"""
REFRESH_TIMES_OF_LONGER_BUCKETS = """
UPDATE outcomes_tally AS tally SET first_reported_at = times.first, last_reported_at = times.last
FROM (
  SELECT DISTINCT label, date_trunc(%(span)s, at, 'UTC') AS starts_at
  FROM unnest(%(keys)s::text[], %(moments)s::timestamptz[]) AS tally_change (outcome_key, at)
    CROSS JOIN LATERAL unnest(ARRAY[outcome_key, '']) AS label
) AS changed_tally
CROSS JOIN LATERAL (
  SELECT min(first_reported_at) AS first, max(last_reported_at) AS last FROM outcomes_tally
  WHERE environment_id = %(environment)s AND grain = %(finer)s AND outcome_key = changed_tally.label
    AND starts_at >= changed_tally.starts_at
    AND starts_at < date_trunc(%(span)s, changed_tally.starts_at + %(longest)s::interval, 'UTC')
) AS times
WHERE tally.environment_id = %(environment)s AND tally.grain = %(grain)s AND tally.outcome_key = changed_tally.label
  AND tally.starts_at = changed_tally.starts_at
"""
LONGER_BUCKETS = (
    {"grain": "d", "finer": "q", "span": "day", "longest": "1 day"},
    {"grain": "m", "finer": "d", "span": "month", "longest": "31 days"},
)


def lock_adjustments(workspace_id: str) -> None:
    """Let one move or deletion of a workspace run at a time, until the transaction ends: all add to the same shard.

    It is a lock of its own. If it were that of the workspace, each form of its settings would wait for a long move.
    """
    hold_named_lock(f"outcomes.adjust {workspace_id}")


def adjust_tallies(environment: Environment, changes: Sequence[TallyChange]) -> None:
    """Add these changes to the tallies; their outcomes must be written already."""
    columns = map(list, zip(*(astuple(change) for change in changes), strict=True))
    parameters: dict[str, Any] = {
        "environment": environment.pk,
        **dict(zip(CHANGE_PARAMETERS, columns, strict=True)),
    }
    with connection.cursor() as cursor:
        for statement in (LOCK, ADD, REFRESH_TIMES_OF_KEYS, REFRESH_TIMES_OF_ALL_KEYS):
            cursor.execute(statement, parameters)
        for bucket in LONGER_BUCKETS:
            cursor.execute(REFRESH_TIMES_OF_LONGER_BUCKETS, {**parameters, **bucket})
