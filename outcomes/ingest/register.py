"""Make conversations known in an environment, and heal the broken joins that named them (contract §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from outcomes.broken_joins.causes.diagnose import bare_form
from outcomes.tallies.sharded_sql import ADD_TO_API_KEY_TALLIES, ADD_TO_OUTCOME_TALLIES
from wire.tallies.shards import FREE_SHARD
from workspaces.models import Environment

# Conversations that were known already keep their times and are not returned.
REGISTER = """
INSERT INTO outcomes_conversation AS conversation
  (environment_id, conversation_id, started_at, registered_at, bare_form)
SELECT %(environment)s, conversation_id, started_at, %(now)s, bare_form
FROM unnest(%(conversation_ids)s::text[], %(started_at)s::timestamptz[], %(bare_forms)s::text[])
  AS arrival (conversation_id, started_at, bare_form)
ORDER BY conversation_id COLLATE "C"
ON CONFLICT (environment_id, conversation_id) DO UPDATE SET
  started_at = excluded.started_at, registered_at = excluded.registered_at, bare_form = excluded.bare_form
  WHERE conversation.started_at IS NULL
RETURNING id
"""

# This is a separate statement after REGISTER, because its snapshot must include reports for which REGISTER had to wait:
# they locked the same conversations and stored broken joins.
HEAL = f"""
WITH registered AS (
  SELECT id, started_at FROM outcomes_conversation
  WHERE environment_id = %(environment)s AND id = ANY(%(registered)s)
), healed AS (
  UPDATE outcomes_outcome AS outcome SET broken = false, healed_at = %(now)s
  FROM registered
  WHERE outcome.environment_id = %(environment)s AND outcome.conversation_id = registered.id AND outcome.broken
  RETURNING outcome_key, first_reported_at, started_at, reported_by
), change AS (
  SELECT outcome_key, first_reported_at AS at, 1 AS outcomes, -1 AS broken, 0 AS reports, 0 AS reached,
         0 AS conversations, NULL::timestamptz AS first_reported_at, NULL::timestamptz AS last_reported_at,
         reported_by
  FROM healed
  UNION ALL
  SELECT outcome_key, started_at, 0, 0, 0, 1, 0, NULL, NULL, NULL FROM healed
  UNION ALL
  SELECT '', started_at, 0, 0, 0, 0, 1, NULL, NULL, NULL FROM registered
), {ADD_TO_OUTCOME_TALLIES.format(shard=FREE_SHARD)}, {ADD_TO_API_KEY_TALLIES.format(shard=FREE_SHARD)}
SELECT count(*) FROM healed
"""


@dataclass(frozen=True)
class Arrival:
    """One conversation to register. `started_at` defaults to the time of the call."""

    conversation_id: str
    started_at: datetime | None = None


@dataclass(frozen=True)
class RegistrationReceipt:
    """The numbers of new conversations, of items that named a known conversation, and of broken joins that healed."""

    registered: int
    already_known: int
    healed_outcomes: int

    def as_json(self) -> dict[str, int]:
        return {
            "registered": self.registered,
            "alreadyKnown": self.already_known,
            "healedOutcomes": self.healed_outcomes,
        }


@transaction.atomic
def register_conversations(
    environment: Environment, arrivals: Sequence[Arrival], *, now: datetime
) -> RegistrationReceipt:
    """Register conversations and heal their broken joins, all of it or nothing.

    The first registration decides the start time, also among items of one call. Raises what `Environment.hold` raises.
    """
    environment.hold()
    started_at = {arrival.conversation_id: arrival.started_at or now for arrival in reversed(arrivals)}
    parameters: dict[str, Any] = {
        "environment": environment.pk,
        "conversation_ids": list(started_at),
        "started_at": list(started_at.values()),
        "bare_forms": [bare_form(conversation_id) for conversation_id in started_at],
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(REGISTER, parameters)
        row_ids = [row_id for (row_id,) in cursor.fetchall()]
    return RegistrationReceipt(
        len(row_ids), len(arrivals) - len(row_ids), _heal_outcomes(environment, row_ids, now=now)
    )


def _heal_outcomes(environment: Environment, conversation_ids: Sequence[int], *, now: datetime) -> int:
    """Heal the broken joins of these conversations (row ids), update the tallies, and return how many healed.

    Each outcome keeps its times and is counted at the time of its first report.
    """
    with connection.cursor() as cursor:
        cursor.execute(HEAL, {"environment": environment.pk, "registered": list(conversation_ids), "now": now})
        return int(cursor.fetchone()[0])
