"""Outcome keys of a period, read from tallies: a page of them, or all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from outcomes.models import ALL_KEYS
from outcomes.tallies.comparison import Comparison, compare_with_previous
from outcomes.tallies.key_search import contains_search
from wire.postgresql.replica import get_read_connection
from wire.tallies.spans import cover_period, segment_columns
from wire.time.period import Period
from workspaces.models import Environment


@dataclass(frozen=True)
class KeyTotals:
    """The numbers of one outcome key in a period: a row of the page's table.

    reached: outcomes, whenever reported, of conversations that started in the period.
    compared_outcomes: the outcomes of this key in the environment and period of the Comparison.

    A row for several keys together has the key ALL_KEYS and their number in `keys`.
    """

    key: str
    outcomes: int = 0
    broken: int = 0
    reports: int = 0
    reached: int = 0
    compared_outcomes: int = 0
    first_reported_at: datetime | None = None
    last_reported_at: datetime | None = None
    keys: int = 1

    @property
    def sort_key(self) -> tuple[int | str, ...]:
        """Return a sort key with the order of ORDER below.

        Most outcomes come first. Rows with equally many are sorted by broken joins, then by compared outcomes, then by
        code point.
        """
        return -self.outcomes, -self.broken, -self.compared_outcomes, self.key

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.outcomes, self.broken, self.reports, self.reached, self.compared_outcomes


@dataclass(frozen=True)
class KeyPage:
    """The rows of one page, the first rows of the whole list (`leading`), and the total of all keys.

    is_counted: whether `total.keys` is exact; otherwise it is a lower bound.
    """

    rows: Sequence[KeyTotals]
    leading: Sequence[KeyTotals]
    total: KeyTotals
    is_counted: bool = True

    def sum_rest(self, rows: Sequence[KeyTotals]) -> KeyTotals:
        """Return all keys but those of `rows` as one row."""
        columns = zip(*(row.numbers for row in rows), strict=True) if rows else [()] * 5
        remainder = [total - sum(column) for total, column in zip(self.total.numbers, columns, strict=True)]
        return sum_of_keys(remainder, self.total.keys - len(rows))


def sum_of_keys(numbers: Sequence[int], keys: int) -> KeyTotals:
    outcomes, broken_joins, reports, reached_conversations, compared_outcomes = numbers
    return KeyTotals(ALL_KEYS, outcomes, broken_joins, reports, reached_conversations, compared_outcomes, keys=keys)


# Each segment is looked up by itself (OFFSET 0): one join of all segments would scan every tally. The environments are
# listed too, so that no partition but theirs is planned.
SELECT_KEYS = f"""
SELECT outcome_key,
       coalesce(sum(outcomes) FILTER (WHERE is_now), 0)::bigint AS outcomes,
       coalesce(sum(broken) FILTER (WHERE is_now), 0)::bigint AS broken,
       coalesce(sum(reports) FILTER (WHERE is_now), 0)::bigint AS reports,
       coalesce(sum(reached) FILTER (WHERE is_now), 0)::bigint AS reached,
       coalesce(sum(outcomes) FILTER (WHERE NOT is_now), 0)::bigint AS compared,
       min(first_reported_at) FILTER (WHERE is_now) AS first_reported_at,
       max(last_reported_at) FILTER (WHERE is_now) AS last_reported_at
FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(ends)s::timestamptz[], %(is_now)s::bool[])
  AS segment (grain, since, till, is_now)
CROSS JOIN LATERAL (
  SELECT outcome_key, outcomes, broken, reports, reached, first_reported_at, last_reported_at FROM outcomes_tally
  WHERE environment_id = CASE WHEN is_now THEN %(environment)s ELSE %(compared)s END
    AND environment_id IN (%(environment)s, %(compared)s)
    AND grain = segment.grain AND starts_at >= since AND starts_at < till
    AND (%(keys)s::text[] IS NULL AND outcome_key <> '' OR outcome_key = ANY(%(keys)s))
    AND {contains_search("outcome_key")}
  OFFSET 0
) AS part
GROUP BY outcome_key
"""
# A key that was not reported in these periods may have `reached` all the same: its outcomes were reported later.
SELECT_REPORTED_KEYS = f"{SELECT_KEYS} HAVING sum(reports) > 0"
ORDER = "outcomes DESC, broken DESC, compared DESC, outcome_key"

# Each of the two selections has an order with a limit, so PostgreSQL keeps only the first rows and need not sort all
# keys, of which there may be 100,000.
SELECT_KEY_PAGE = f"""
WITH key_row AS MATERIALIZED ({SELECT_REPORTED_KEYS}), total AS (
  SELECT count(*) AS keys, sum(outcomes), sum(broken), sum(reports), sum(reached), sum(compared) FROM key_row
), page_row AS (
  (SELECT true AS leads, * FROM key_row ORDER BY {ORDER} LIMIT %(lead)s)
  UNION ALL
  (SELECT false, * FROM key_row ORDER BY {ORDER} LIMIT %(limit)s OFFSET %(start)s)
)
SELECT * FROM total LEFT JOIN page_row ON true ORDER BY leads, {ORDER}
"""


def read_key_page(
    environment: Environment,
    period: Period,
    *,
    search: str = "",
    start: int = 0,
    limit: int = 50,
    lead: int = 0,
    only: Sequence[str] | None = None,
    comparison: Comparison | None = None,
) -> KeyPage:
    """Return keys that were reported in the period or in the comparison, in the order of `KeyTotals.sort_key`.

    search: text that a key contains, whatever its case.
    start: how many keys to skip.
    lead: how many `leading` rows to return.
    only: read only these keys.
    comparison: the numbers to compare with, by default those of the previous period.
    """
    page = {"start": start, "limit": limit, "lead": lead}
    with get_read_connection().cursor() as cursor:
        cursor.execute(
            SELECT_KEY_PAGE, {**_keys_query(environment, period, comparison, search=search, keys=only), **page}
        )
        rows = cursor.fetchall()
    keys, *sums = (int(number or 0) for number in rows[0][:6])
    leading, page_rows = ([KeyTotals(*row[7:]) for row in rows if row[6] is leads] for leads in (True, False))
    return KeyPage(page_rows, leading, sum_of_keys(sums, keys))


def stream_keys(
    environment: Environment, period: Period, *, search: str = "", comparison: Comparison | None = None
) -> Iterator[KeyTotals]:
    """Yield all keys in the order of `read_key_page`."""
    with get_read_connection().chunked_cursor() as cursor:
        query = _keys_query(environment, period, comparison, search=search)
        cursor.execute(f"{SELECT_REPORTED_KEYS} ORDER BY {ORDER}", query)
        for row in cursor:
            yield KeyTotals(*row)


def read_keys(
    environment: Environment, period: Period, keys: Sequence[str], comparison: Comparison | None = None
) -> Mapping[str, KeyTotals]:
    """Return these keys (ALL_KEYS for the sum of all), whether or not they were reported."""
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_KEYS, _keys_query(environment, period, comparison, keys=keys))
        totals_by_key = {row[0]: KeyTotals(*row) for row in cursor}
    return {key: totals_by_key.get(key, KeyTotals(key)) for key in keys}


def read_total_of_keys(environment: Environment, period: Period, comparison: Comparison | None = None) -> KeyTotals:
    return read_keys(environment, period, [ALL_KEYS], comparison)[ALL_KEYS]


def _keys_query(
    environment: Environment,
    period: Period,
    comparison: Comparison | None,
    *,
    search: str = "",
    keys: Sequence[str] | None = None,
) -> dict[str, Any]:
    comparison = comparison or compare_with_previous(environment, period)
    segments, compared_segments = cover_period(period), cover_period(comparison.period)
    return {
        "environment": environment.pk,
        "compared": comparison.environment.pk,
        "is_now": [True] * len(segments) + [False] * len(compared_segments),
        "keys": None if keys is None else list(keys),
        "search": search,
        **segment_columns([*segments, *compared_segments]),
    }
