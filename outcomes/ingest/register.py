"""Make conversations known in an environment (contract 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from outcomes.broken_joins.diagnose import bare_form
from outcomes.ingest.heal import heal
from outcomes.ingest.report_sql import REGISTER
from workspaces.models import Environment


@dataclass(frozen=True)
class Arrival:
    """One conversation to register; `started_at` is the time of the call where none is given."""

    conversation_id: str
    started_at: datetime | None = None


@dataclass(frozen=True)
class Registered:
    """How many conversations were new, how many items named a known one, how many broken joins healed."""

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
def register(environment: Environment, arrivals: Sequence[Arrival], *, now: datetime) -> Registered:
    """Register conversations and heal what waited for them; all of it or nothing.

    The first registration's time stands, within one call as between calls.
    """
    environment.hold()
    started = {arrival.conversation_id: arrival.started_at or now for arrival in reversed(arrivals)}
    parameters = {
        "environment": environment.pk,
        "conversation_ids": list(started),
        "started_at": list(started.values()),
        "bare_forms": [bare_form(conversation_id) for conversation_id in started],
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(REGISTER, parameters)
        ids = [id_ for (id_,) in cursor.fetchall()]
    return Registered(len(ids), len(arrivals) - len(ids), heal(environment, ids, now=now))
