"""Count the outcomes of some keys of one day again, and compare them with the tallies of that day.

One statement reads rows and tallies, so that no writer changes them in between. MOST_KEYS and MOST_OUTCOMES bound the
work.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, datetime

from django.db import connection

from outcomes.models import ALL_KEYS, Tally
from wire.format_numbers import count_noun
from workspaces.models import Environment

MOST_KEYS = 50
MOST_OUTCOMES = 100_000  # a key with more outcomes is left out

# Retention deletes broken joins and keeps their counts, so there may be more counts than rows, but never fewer.
SELECT_DAY = """
WITH tally AS (
  SELECT outcome_key, sum(outcomes) AS outcomes, sum(broken) AS broken FROM outcomes_tally
  WHERE environment_id = %(environment)s AND grain = 'd' AND starts_at = %(day)s
  GROUP BY outcome_key
), sample AS (
  SELECT * FROM tally WHERE outcome_key <> '' AND outcomes + broken <= %(most_outcomes)s
  ORDER BY md5(outcome_key || (%(seed)s)::text) LIMIT %(most_keys)s
)
SELECT sample.outcome_key, sample.outcomes::bigint, sample.broken::bigint, stored.outcomes, stored.broken
FROM sample CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE NOT broken) AS outcomes, count(*) FILTER (WHERE broken) AS broken
  FROM outcomes_outcome
  WHERE environment_id = %(environment)s AND outcome_key = sample.outcome_key
    AND first_reported_at >= %(day)s AND first_reported_at < %(day)s + interval '1 day'
) AS stored
UNION ALL  -- over all keys, compared with the sum of the tallies of each
SELECT '', max(outcomes) FILTER (WHERE outcome_key = '')::bigint, max(broken) FILTER (WHERE outcome_key = '')::bigint,
       coalesce(sum(outcomes) FILTER (WHERE outcome_key <> ''), 0)::bigint,
       coalesce(sum(broken) FILTER (WHERE outcome_key <> ''), 0)::bigint
FROM tally
"""


@dataclass(frozen=True)
class Recount:
    """The recount of one day of UTC.

    difference: the first difference that was found, in words; "" if there is none.
    """

    environment: Environment
    day: date
    keys: int
    outcomes: int
    difference: str


def recount_random_day(seed: int) -> Recount | None:
    """Recount some keys of a day that the seed chooses; None if nothing was ever reported."""
    rows = Tally.objects.filter(grain="d", outcome_key=ALL_KEYS).values_list("environment_id", "starts_at")
    days = sorted(set(rows))
    if not days:
        return None
    environment_id, day = random.Random(seed).choice(days)
    environment = Environment.objects.select_related("workspace").get(pk=environment_id)
    return _recount_day(environment, day, seed)


def _recount_day(environment: Environment, day: datetime, seed: int) -> Recount:
    limits = {"most_keys": MOST_KEYS, "most_outcomes": MOST_OUTCOMES}
    with connection.cursor() as cursor:
        cursor.execute(SELECT_DAY, {"environment": environment.pk, "day": day, "seed": seed, **limits})
        rows = cursor.fetchall()
    differences = [
        f"{key or 'all keys'}: the tallies say {count_noun(tally_outcomes, 'outcome')} and "
        f"{count_noun(tally_broken_joins, 'broken join')}, but there are {row_outcomes:,} and {row_broken_joins:,}"
        for key, tally_outcomes, tally_broken_joins, row_outcomes, row_broken_joins in rows
        if tally_outcomes != row_outcomes or tally_broken_joins < row_broken_joins
    ]
    stored_outcomes = sum(row[3] for row in rows if row[0])
    return Recount(environment, day.date(), len(rows) - 1, stored_outcomes, "".join(differences[:1]))
