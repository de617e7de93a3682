"""The funnel between outcome keys: how many conversations that reached one key then reached the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from outcomes.tallies.keys import read_keys
from wire.postgresql.replica import get_read_connection
from wire.tallies.spans import widen_to_quarters
from wire.time.period import Period
from workspaces.models import Environment

MIN_STEPS, MAX_STEPS = 2, 4
MAX_CONVERSATIONS = 20_000  # a funnel follows the latest conversations that reached its first key

RECENT_HOURS = 24  # so soon after one key, a conversation may well still reach the next one
MAX_LOST = 20  # lost conversations on the page

# The first step reads its conversations from the index by key and time, the latest first. Each later step looks up the
# same conversations by the primary key. So each step reads at most MAX_CONVERSATIONS rows, however many there are.
FIRST_STEP = """
SELECT conversation_id, first_reported_at AS at FROM outcomes_outcome
WHERE environment_id = %(environment)s AND outcome_key = %(key_1)s AND NOT broken
  AND first_reported_at >= %(start)s AND first_reported_at < %(end)s
ORDER BY first_reported_at DESC, conversation_id DESC LIMIT %(limit)s
"""
LATER_STEP = """
LEFT JOIN LATERAL (
  SELECT first_reported_at AS at FROM outcomes_outcome
  WHERE environment_id = %(environment)s AND conversation_id = step_1.conversation_id
    AND outcome_key = %(key_{number})s AND NOT broken AND first_reported_at >= step_{before}.at OFFSET 0
) AS step_{number} ON true
"""
# The conversations that reached one step and not the next. OFFSET 0 makes PostgreSQL look up one id at a time, so that
# it reads few rows.
SELECT_LOST = """
SELECT conversation.conversation_id, lost.at FROM (
  SELECT step_1.conversation_id, step_{before}.at FROM ({first_step}) AS step_1 {joins}
  WHERE step_{before}.at IS NOT NULL AND step_{number}.at IS NULL
  ORDER BY step_{before}.at DESC, step_1.conversation_id DESC LIMIT %(lost_limit)s
) AS lost
CROSS JOIN LATERAL (
  SELECT conversation_id FROM outcomes_conversation
  WHERE environment_id = %(environment)s AND id = lost.conversation_id OFFSET 0
) AS conversation
ORDER BY lost.at DESC, lost.conversation_id DESC
"""


@dataclass(frozen=True)
class FunnelStep:
    """The number of followed conversations that reached this key after the keys of all steps before it.

    previous: the number that reached the step before; for the first step, the same as `conversations`.
    recent: how many conversations did not reach this key, but reached the key before it less than RECENT_HOURS ago.
    """

    number: int
    key: str
    conversations: int
    previous: int
    recent: int = 0

    @property
    def lost_conversations(self) -> int:
        return self.previous - self.conversations


@dataclass(frozen=True)
class LostConversation:
    """A followed conversation that reached one step, at `reached_at`, but not the next step."""

    conversation_id: str
    reached_at: datetime


@dataclass(frozen=True)
class Funnel:
    """The steps of the conversations that first reached the first key in a period.

    total: the number of these conversations by the tallies. If it is larger than MAX_CONVERSATIONS, only the latest are
        followed.
    """

    steps: Sequence[FunnelStep]
    total: int
    recent_hours: ClassVar[int] = RECENT_HOURS

    @property
    def followed_conversations(self) -> int:
        return self.steps[0].conversations

    @property
    def is_cut(self) -> bool:
        return self.total > self.followed_conversations


def read_funnel(environment: Environment, period: Period, keys: Sequence[str]) -> Funnel | None:
    """Return the funnel between two or more keys, None for fewer.

    A later step may be first reported after the period, but not before the step that precedes it.
    """
    if len(keys) < MIN_STEPS:
        return None
    with get_read_connection().cursor() as cursor:
        cursor.execute(_write_statement(len(keys)), _list_parameters(environment, period, keys))
        numbers = [int(count) for count in cursor.fetchone()]
    counts, recent = numbers[: len(keys)], [0, *numbers[len(keys) :]]
    previous = [counts[0], *counts[:-1]]
    steps = [FunnelStep(*facts) for facts in zip(range(1, len(keys) + 1), keys, counts, previous, recent, strict=True)]
    return Funnel(steps, read_keys(environment, period, [keys[0]])[keys[0]].outcomes)


def read_lost(
    environment: Environment, period: Period, keys: Sequence[str], number: int, limit: int | None = MAX_LOST
) -> Sequence[LostConversation]:
    """Return the conversations that the step of this number lost, the latest first; none if there is no such step.

    They reached the step before, so the first step loses none. Without a limit, return all that
    `FunnelStep.lost_conversations` counts.
    """
    if not 2 <= number <= len(keys):
        return []
    names = {"first_step": FIRST_STEP, "joins": _write_joins(number), "number": number, "before": number - 1}
    parameters = {**_list_parameters(environment, period, keys), "lost_limit": limit}
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_LOST.format(**names), parameters)
        return [LostConversation(*row) for row in cursor.fetchall()]


def _list_parameters(environment: Environment, period: Period, keys: Sequence[str]) -> dict[str, Any]:
    start, end = widen_to_quarters(period)
    key_parameters = {f"key_{number}": key for number, key in enumerate(keys, 1)}
    limits = {"limit": MAX_CONVERSATIONS, "recent": (period.now or period.end) - timedelta(hours=RECENT_HOURS)}
    return {"environment": environment.pk, "start": start, "end": end, **limits, **key_parameters}


def _write_joins(steps: int) -> str:
    return "".join(LATER_STEP.format(number=number, before=number - 1) for number in range(2, steps + 1))


def _write_statement(steps: int) -> str:
    columns = [f"count(step_{number}.at)" for number in range(1, steps + 1)]
    columns += [
        f"count(*) FILTER (WHERE step_{number}.at IS NULL AND step_{number - 1}.at >= %(recent)s)"
        for number in range(2, steps + 1)
    ]
    return f"SELECT {', '.join(columns)} FROM ({FIRST_STEP}) AS step_1 {_write_joins(steps)}"
