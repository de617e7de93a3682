"""The conversations that reached one key, and after how long, read from single outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from outcomes.analytics.lag import MAX_LAGS, LagDistribution, count_lags
from wire.list_position import ListPosition
from wire.postgresql.copy_csv import SelectedRows
from wire.postgresql.replica import get_read_connection
from wire.tallies.spans import widen_to_quarters
from wire.time.period import Period
from workspaces.models import Environment

CONVERSATIONS_PER_PAGE = 20  # on the page of one key
ROWS_AT_ONCE = 5000
MAX_COUNTED = 10_000  # conversations that are counted before a page; with more, the page does not number its rows


@dataclass(frozen=True)
class ReachedOutcome:
    """One outcome with its conversation's times."""

    conversation_id: str
    outcome_key: str
    started_at: datetime
    first_reported_at: datetime
    last_reported_at: datetime
    reports: int
    healed_at: datetime | None
    conversation: int

    @property
    def lag(self) -> timedelta:
        """Return the time from the start of the conversation to the first report."""
        return self.first_reported_at - self.started_at

    @property
    def position(self) -> ListPosition[int]:
        """Return the position in the list of a key: the time of the first report and the row id."""
        return ListPosition(self.first_reported_at, self.conversation)


# The order is that of the index: keys in descending code point order, and the latest first within a key. The first
# query reads the rest of the current key; the second reads the keys after it, if the first has too few rows. With a
# single comparison of row values, the planner would underestimate the remaining rows and scan the whole table.
# Conversations are looked up one by one (OFFSET 0), because a join might read all of them for each page.
OUTCOMES_OF_PERIOD = """
SELECT * FROM outcomes_outcome
WHERE environment_id = %(environment)s AND NOT broken AND first_reported_at >= %(start)s AND first_reported_at < %(end)s
"""
LATEST_FIRST = "ORDER BY outcome_key DESC, first_reported_at DESC, conversation_id DESC LIMIT %(limit)s"
SELECT_CONVERSATIONS = f"""
SELECT conversation.conversation_id, outcome_key, started_at, first_reported_at, last_reported_at, reports,
       healed_at, page.conversation_id
FROM (
  ({OUTCOMES_OF_PERIOD} AND outcome_key = %(after_key)s
    AND (first_reported_at, conversation_id) < (%(after_time)s::timestamptz, %(after_id)s::bigint) {LATEST_FIRST})
  UNION ALL
  ({OUTCOMES_OF_PERIOD} AND (%(key)s = '' OR outcome_key = %(key)s)
    AND (%(after_key)s::text IS NULL OR outcome_key < %(after_key)s) {LATEST_FIRST})
  LIMIT %(limit)s
) AS page
CROSS JOIN LATERAL (
  SELECT conversation_id, started_at FROM outcomes_conversation
  WHERE environment_id = %(environment)s AND id = page.conversation_id OFFSET 0
) AS conversation
ORDER BY outcome_key DESC, first_reported_at DESC, page.conversation_id DESC
"""
# The index serves the first comparison. The second leaves out rows of the same moment that are on this page.
COUNT_NEWER = f"""
SELECT count(*) FROM (
  SELECT FROM ({OUTCOMES_OF_PERIOD}) AS outcome
  WHERE outcome_key = %(key)s AND first_reported_at >= %(last_time)s
    AND (first_reported_at, conversation_id) >= (%(last_time)s::timestamptz, %(last_id)s::bigint)
  LIMIT %(limit)s
) AS newer
"""
# Times are cut to whole seconds, lags are rounded by the rule of round_to_units.
SELECT_ALL_CONVERSATIONS = f"""
SELECT conversation.conversation_id, outcome_key, floor(date_part('epoch', started_at))::bigint AS started_at,
       floor(date_part('epoch', first_reported_at))::bigint AS first_reported_at,
       floor(date_part('epoch', last_reported_at))::bigint AS last_reported_at,
       floor(date_part('epoch', first_reported_at - started_at) + 0.5)::bigint AS lag_seconds, reports,
       floor(date_part('epoch', healed_at))::bigint AS healed_at, outcome.first_reported_at AS exact_time,
       outcome.conversation_id AS conversation_row
FROM ({OUTCOMES_OF_PERIOD} AND (%(key)s = '' OR outcome_key = %(key)s)) AS outcome
JOIN outcomes_conversation AS conversation
  ON conversation.environment_id = outcome.environment_id AND conversation.id = outcome.conversation_id
"""
ALL_LATEST_FIRST = "selected.outcome_key DESC, selected.exact_time DESC, selected.conversation_row DESC"
COLUMNS = (
    "conversation_id", "outcome_key", "started_at", "first_reported_at", "last_reported_at", "lag_seconds", "reports",
    "healed_at",
)  # fmt: skip
TEXT_COLUMNS = ("conversation_id", "outcome_key")
# Lags are read as whole numbers, because parsing thousands of moments would take longer than the rest of the page.
SELECT_LAGS = f"""
SELECT (extract(epoch FROM first_reported_at - started_at) * 1000000)::bigint
FROM ({OUTCOMES_OF_PERIOD} AND outcome_key = %(key)s {LATEST_FIRST}) AS latest
CROSS JOIN LATERAL (
  SELECT started_at FROM outcomes_conversation
  WHERE environment_id = %(environment)s AND id = latest.conversation_id OFFSET 0
) AS conversation
"""


def read_conversations(
    environment: Environment, period: Period, key: str, *, position: ListPosition[int] | None = None, limit: int
) -> Sequence[ReachedOutcome]:
    """Return the latest conversations that reached a key, from a position on.

    The key "" stands for any key; then there are no pages, so leave out the position.
    """
    after_key, after_time, after_id = (key, *position) if position else (None, None, None)
    page = {"after_key": after_key, "after_time": after_time, "after_id": after_id}
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_CONVERSATIONS, {**_outcomes_query(environment, period, key, limit), **page})
        return [ReachedOutcome(*row) for row in cursor.fetchall()]


def count_newer(
    environment: Environment, period: Period, key: str, *, position: ListPosition[int] | None
) -> int | None:
    """Return how many conversations that reached a key come before a page; None for more than MAX_COUNTED."""
    if position is None:
        return 0
    parameters = {
        **_outcomes_query(environment, period, key, MAX_COUNTED + 1),
        "last_time": position.moment,
        "last_id": position.row_id,
    }
    with get_read_connection().cursor() as cursor:
        cursor.execute(COUNT_NEWER, parameters)
        count = int(cursor.fetchone()[0])
    return count if count <= MAX_COUNTED else None


def select_conversations(environment: Environment, period: Period, key: str) -> SelectedRows:
    """Return all conversations that reached a key ("" for any), the latest first, with times in Unix seconds."""
    parameters = _outcomes_query(environment, period, key, limit=None)
    return SelectedRows(
        SELECT_ALL_CONVERSATIONS, parameters, COLUMNS, TEXT_COLUMNS, ROWS_AT_ONCE, order=ALL_LATEST_FIRST
    )


def read_lags(environment: Environment, period: Period, key: str) -> LagDistribution:
    """Return the lags of the latest outcomes of a key."""
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_LAGS, _outcomes_query(environment, period, key, MAX_LAGS))
        return count_lags([timedelta(microseconds=lag) for (lag,) in cursor.fetchall()])


def _outcomes_query(environment: Environment, period: Period, key: str, limit: int | None) -> dict[str, Any]:
    start, end = widen_to_quarters(period)
    return {"environment": environment.pk, "key": key, "start": start, "end": end, "limit": limit}
