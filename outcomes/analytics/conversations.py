"""Every read of single outcomes: the conversations that reached a key, and after how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection

from outcomes.analytics.lag import Distribution, distribution
from wire.period import Period, ceil_to_quarter, floor_to_quarter
from workspaces.models import Environment

ROWS_AT_ONCE = 5000
LAGS_OF = 2000  # the latest outcomes, whose lags are shown


@dataclass(frozen=True)
class Reached:
    """One outcome with its conversation's times."""

    conversation_id: str
    outcome_key: str
    started_at: datetime
    first_reported_at: datetime
    last_reported_at: datetime
    reports: int
    healed_at: datetime | None
    pk: int

    @property
    def lag(self) -> timedelta:
        """From the start of the conversation to the first report."""
        return self.first_reported_at - self.started_at

    @property
    def cursor(self) -> str:
        """Where a page after this row begins: microseconds of the first report, and the row's id."""
        return f"{round(self.first_reported_at.timestamp() * 1_000_000)}-{self.pk}"


# The latest first, key by key from the last one in code point order: as the index has them. The rest of a key and the
# keys after it are asked for apart (the second only where the first has too few): compared as one row of values, the
# planner takes what is left for next to nothing and reads the whole table. Conversations are looked up one by one
# (OFFSET 0): as a join, it might read all of them for each page.
KNOWN = """
SELECT * FROM outcomes_outcome
WHERE environment_id = %(environment)s AND NOT broken AND first_reported_at >= %(start)s AND first_reported_at < %(end)s
"""
ORDERED = "ORDER BY outcome_key DESC, first_reported_at DESC, id DESC LIMIT %(limit)s"
PAGE = f"""
SELECT conversation.conversation_id, outcome_key, started_at, first_reported_at, last_reported_at, reports,
       healed_at, page.id
FROM (
  ({KNOWN} AND outcome_key = %(after_key)s
    AND (first_reported_at, id) < (%(after_time)s::timestamptz, %(after_id)s::bigint) {ORDERED})
  UNION ALL
  ({KNOWN} AND (%(key)s = '' OR outcome_key = %(key)s)
    AND (%(after_key)s::text IS NULL OR outcome_key < %(after_key)s) {ORDERED})
  LIMIT %(limit)s
) AS page
CROSS JOIN LATERAL (
  SELECT conversation_id, started_at FROM outcomes_conversation WHERE id = page.conversation_id OFFSET 0
) AS conversation
ORDER BY outcome_key DESC, first_reported_at DESC, page.id DESC
"""
# Whole numbers, of which thousands are read in no time; moments would take longer than all else on the page.
LAGS = f"""
SELECT (extract(epoch FROM first_reported_at - started_at) * 1000000)::bigint
FROM ({KNOWN} AND outcome_key = %(key)s {ORDERED}) AS latest
CROSS JOIN LATERAL (
  SELECT started_at FROM outcomes_conversation WHERE id = latest.conversation_id OFFSET 0
) AS conversation
"""


def latest(environment: Environment, period: Period, key: str, *, cursor: str = "", limit: int) -> Sequence[Reached]:
    """The latest conversations that reached a key ("" for any), from `cursor` on."""
    return page(environment, period, key, after(cursor, key), limit)


def every(environment: Environment, period: Period, key: str) -> Iterator[Reached]:
    """All of them, in pages of their own, so that neither memory nor a transaction grows with them."""
    position: tuple[str, datetime, int] | None = None
    while rows := page(environment, period, key, position, ROWS_AT_ONCE):
        yield from rows
        if len(rows) < ROWS_AT_ONCE:
            return
        position = (rows[-1].outcome_key, rows[-1].first_reported_at, rows[-1].pk)


def page(
    environment: Environment, period: Period, key: str, position: tuple[str, datetime, int] | None, limit: int
) -> Sequence[Reached]:
    after_key, after_time, after_id = position or (None, None, None)
    query = {
        "environment": environment.pk,
        "key": key,
        **ends(period),
        "after_key": after_key,
        "after_time": after_time,
        "after_id": after_id,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(PAGE, query)
        return [Reached(*row) for row in cursor.fetchall()]


def after(cursor: str, key: str) -> tuple[str, datetime, int] | None:
    """What `Reached.cursor` says; the beginning, where it cannot be read."""
    microseconds, _, pk = cursor.partition("-")
    if not (microseconds.isdecimal() and pk.isdecimal() and len(microseconds) < 18 and len(pk) < 19):
        return None
    return key, datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(microseconds)), int(pk)


def lags(environment: Environment, period: Period, key: str) -> Distribution:
    """The lags of the latest outcomes of a key."""
    query = {"environment": environment.pk, "key": key, "limit": LAGS_OF, **ends(period)}
    with connection.cursor() as cursor:
        cursor.execute(LAGS, query)
        return distribution([timedelta(microseconds=lag) for (lag,) in cursor.fetchall()])


def ends(period: Period) -> Mapping[str, datetime]:
    return {"start": floor_to_quarter(period.start), "end": ceil_to_quarter(period.end)}
