"""The top keys of a period, found without reading all of them (top-k).

An index gives the largest keys of each bucket; any other key of the bucket is no larger than the last of these. So the
number of a key's outcomes is at least what was read, and at most that plus all that may have been left out. Only keys
that can be among the first are then read exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import MAXYEAR, timedelta
from operator import attrgetter
from typing import Any

from outcomes.models import MAGNITUDE_STEPS
from outcomes.tallies.comparison import Comparison, compare_with_previous
from outcomes.tallies.key_search import contains_search, find_matching_keys
from outcomes.tallies.keys import KeyPage, KeyTotals, read_key_page, read_keys, read_total_of_keys
from wire.postgresql.replica import get_read_connection
from wire.tallies.shards import SHARDS
from wire.tallies.spans import DAY, bucket_starts, cover_period, floor_to_day, next_month
from wire.time.period import Period, floor_to_quarter
from workspaces.models import Environment

# How many keys to read from a bucket for each wanted key, by the grain of the bucket. The first numbers are for the
# first attempt, the second for another attempt if the first does not decide. Longer buckets give more keys, because
# there are few of them. The first attempt reads whole days or months: a little more than the period, in few buckets.
DEPTHS = ({"q": 1, "d": 4, "m": 6}, {"q": 8, "d": 24, "m": 48})
WIDEST = 1.5  # the first attempt reads at most this many times the length of the period
MAX_CANDIDATES = 8  # times the wanted keys; with more candidates, reading all keys costs no more
MAX_TOP = 500  # wanted keys; with more, reading all keys costs no more
FEW_MATCHES = 1500  # if at most this many keys contain the searched text, exactly these are read
SHORT = 100_000  # reports in a period without a whole day: with this many or fewer, bounds seldom decide

# Each row of a bucket is one shard (column `lane`) of a key. A row that was left out has at most `most` outcomes: the
# highest number of the smallest magnitude that was read. It also has no more outcomes than the same shard of ALL_KEYS,
# because reports and registrations only add outcomes. That second bound is often 0: many shards of ALL_KEYS count only
# conversations that started in the bucket, and no outcomes. Only outcomes.tallies.adjust_to_moves_and_deletions
# subtracts, and it writes to shard SHARDS alone.
SELECT_LARGEST = f"""
WITH large AS (
  SELECT bucket.*, key_tally.*
  FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(depths)s::int[]) AS bucket (grain, at, depth)
  CROSS JOIN LATERAL (
    SELECT outcome_key, outcomes, magnitude FROM outcomes_tally
    WHERE environment_id = %(environment)s AND grain = bucket.grain AND starts_at = bucket.at AND outcome_key <> ''
      AND {contains_search("outcome_key")}
    ORDER BY magnitude DESC LIMIT bucket.depth
  ) AS key_tally
), cut_off AS (
  SELECT (
    SELECT sum(CASE lane WHEN {SHARDS} THEN most ELSE least(outcomes, most) END) FROM outcomes_tally
    WHERE environment_id = %(environment)s AND grain = cut.grain AND starts_at = cut.at AND outcome_key = ''
  )::bigint AS at_most
  FROM (
    SELECT grain, at, (%(steps)s::bigint[])[min(magnitude) + 1] - 1 AS most
    FROM large GROUP BY grain, at, depth HAVING count(*) = depth
  ) AS cut
)
SELECT outcome_key, sum(outcomes)::bigint, (SELECT coalesce(sum(at_most), 0)::bigint FROM cut_off),
       (SELECT count(*) FROM cut_off)
FROM large GROUP BY outcome_key
"""


@dataclass(frozen=True)
class KeyBounds:
    """Bounds of the outcomes of keys.

    outcomes_by_key: the outcomes that were read, by key.
    at_most_more: the most outcomes that any key can have beyond those that were read.
    surplus: the length of the buckets divided by the length of the period. If it is above 1, a key may have fewer
        outcomes in the period than in the buckets.
    complete: whether nothing was left out, so that there is no other key.
    """

    outcomes_by_key: Mapping[str, int]
    at_most_more: int
    complete: bool
    surplus: float = 1

    def find_candidates(self, count: int) -> tuple[Sequence[str], int]:
        """Return the keys that can be among the first `count`, and how many outcomes any other key has at most.

        Verify the result, for two reasons. A shard can be negative, so what was left out can sum to less than zero. And
        a surplus only estimates how much of a key is outside the period.
        """
        last = sorted(self.outcomes_by_key.values(), reverse=True)[count - 1 : count]
        least = last[0] / self.surplus - self.at_most_more if last else 0
        beneath = max((outcomes for outcomes in self.outcomes_by_key.values() if outcomes < least), default=0)
        return [key for key, outcomes in self.outcomes_by_key.items() if outcomes >= least], beneath + self.at_most_more


def read_top_page(
    environment: Environment,
    period: Period,
    *,
    search: str,
    start: int,
    limit: int,
    lead: int,
    comparison: Comparison | None = None,
) -> KeyPage:
    """Return the same as `read_key_page`, but count the keys only if all of them had to be read."""
    comparison = comparison or compare_with_previous(environment, period)
    rows, keys_to_read = find_top_totals(
        environment, period, max(start + limit, lead) + 1, search=search, comparison=comparison
    )
    if not rows:
        return read_key_page(
            environment,
            period,
            search=search,
            start=start,
            limit=limit,
            lead=lead,
            only=keys_to_read,
            comparison=comparison,
        )
    total = replace(read_total_of_keys(environment, period, comparison), keys=len(rows))
    return KeyPage(rows[start : start + limit], rows[:lead], total, is_counted=False)


def find_top_totals(
    environment: Environment, period: Period, count: int, *, search: str = "", comparison: Comparison | None = None
) -> tuple[Sequence[KeyTotals], Sequence[str] | None]:
    """Return the first `count` rows of the table of keys, if they can be found without reading all keys.

    Otherwise return no rows, and the keys that must be read (None for all of them).
    """
    comparison = comparison or compare_with_previous(environment, period)
    if search and len(matches := _find_few_matches({environment, comparison.environment}, search)) <= FEW_MATCHES:
        return (), matches
    attempts = _list_attempts(period, count) if count <= MAX_TOP and not _is_short(environment, period) else ()
    for span, depths in attempts:
        bounds = read_key_bounds(environment, span, depths, search)
        bounds = replace(bounds, surplus=(span.end - span.start) / (period.end - period.start))
        if bounds.complete:
            return (), _list_complete(bounds, comparison, depths, search) if search else None
        candidates, others_at_most = bounds.find_candidates(count)
        if len(candidates) <= MAX_CANDIDATES * count:
            totals = read_keys(environment, period, candidates, comparison).values()
            rows = sorted(totals, key=attrgetter("sort_key"))[:count]
            if len(rows) == count and rows[-1].outcomes > others_at_most:
                return rows, None
    return (), None


def _find_few_matches(environments: Iterable[Environment], search: str) -> Sequence[str]:
    """Return the keys of all time that contain the text, or more than FEW_MATCHES of them."""
    matches = (find_matching_keys(environment, search, limit=FEW_MATCHES + 1) for environment in environments)
    return list({key for keys in matches for key in keys})


def _list_attempts(period: Period, count: int) -> Sequence[tuple[Period, Mapping[str, int]]]:
    """Return for each attempt its period and its DEPTHS.

    count: the number of wanted keys.
    """
    first, second = ({grain: times * count for grain, times in depths.items()} for depths in DEPTHS)
    return [(widen_period(period), first), (period, second)]


def widen_period(period: Period) -> Period:
    """Return the period widened to whole months of UTC, or else to whole days; unchanged if both exceed WIDEST."""
    if period.end.year == MAXYEAR:
        return period
    start = floor_to_day(floor_to_quarter(period.start))
    end = floor_to_day(floor_to_quarter(period.end - timedelta.resolution)) + DAY
    whole_days = replace(period, start=start, end=end)
    whole_months = replace(period, start=start.replace(day=1), end=next_month(end - timedelta.resolution))
    longest = WIDEST * (period.end - period.start)
    return next((wide for wide in (whole_months, whole_days) if wide.end - wide.start <= longest), period)


def _is_short(environment: Environment, period: Period) -> bool:
    """Return whether reading all keys of the period costs no more than searching for the top ones."""
    if any(segment.grain != "q" for segment in cover_period(period)):
        return False
    return read_total_of_keys(environment, period).reports <= SHORT


def _list_complete(
    bounds: KeyBounds, comparison: Comparison, depths: Mapping[str, int], search: str
) -> Sequence[str] | None:
    """Return all keys of the period and of the comparison; None if not all of these are known."""
    compared_bounds = read_key_bounds(comparison.environment, comparison.period, depths, search)
    return [*bounds.outcomes_by_key, *compared_bounds.outcomes_by_key] if compared_bounds.complete else None


def read_key_bounds(environment: Environment, period: Period, depths: Mapping[str, int], search: str) -> KeyBounds:
    """Read the largest keys of each bucket of the period, and sum their outcomes.

    depths: the number of keys to read of a bucket, by its grain.
    """
    rows = _select_largest(environment, period, depths, search)
    outcomes_by_key = {key: outcomes for key, outcomes, *_ in rows}
    at_most_more, cut_off_buckets = rows[0][2:] if rows else (0, 0)
    return KeyBounds(outcomes_by_key, at_most_more, complete=not cut_off_buckets)


def _select_largest(
    environment: Environment, period: Period, depths: Mapping[str, int], search: str
) -> Sequence[tuple[str, int, int, int]]:
    buckets = [(segment.grain, start) for segment in cover_period(period) for start in bucket_starts(segment)]
    parameters: dict[str, Any] = {
        "environment": environment.pk,
        "search": search,
        "grains": [grain for grain, _ in buckets],
        "starts": [start for _, start in buckets],
        "depths": [depths[grain] for grain, _ in buckets],
        "steps": MAGNITUDE_STEPS,
    }
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_LARGEST, parameters)
        rows: list[tuple[str, int, int, int]] = cursor.fetchall()
    return rows
