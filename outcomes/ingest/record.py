"""Store a batch of outcome reports (contract 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from outcomes.ingest.report_sql import RECORD
from wire.prepared_statements import open_prepared_cursor
from workspaces.models import Environment, EnvironmentRemoved


@dataclass(frozen=True)
class Report:
    """One item of a batch: this conversation had this outcome; both are exact strings."""

    conversation_id: str
    outcome_key: str


@dataclass(frozen=True)
class Receipt:
    """What became of a batch.

    recorded: items whose conversation is known; unknown: each other id once, in order of first appearance;
    new: outcomes that did not exist before (broken joins are none).
    """

    recorded: int
    unknown: Sequence[str]
    new: int

    def as_json(self) -> dict[str, Any]:
        """The spec's 200 body (4.1)."""
        return {"recorded": self.recorded, "unknownConversations": list(self.unknown)}


def record(
    environment: Environment, reports: Sequence[Report], *, reported_by: int | None = None, now: datetime
) -> Receipt:
    """Store one batch; all of it or nothing.

    One statement, so that it needs no other to begin, hold the environment and commit. Raises what `hold` raises.
    Known conversations get their outcomes, the others a broken join that heals when they arrive.
    reported_by: the id of the API key, kept with broken joins.
    """
    parameters = {
        "environment": environment.pk,
        "conversation_ids": [report.conversation_id for report in reports],
        "outcome_keys": [report.outcome_key for report in reports],
        "reported_by": reported_by,
        "now": now,
    }
    with open_prepared_cursor() as cursor:
        cursor.execute(RECORD, parameters)
        held, recorded, new, unknown = cursor.fetchone()
    if not held:
        raise EnvironmentRemoved
    return Receipt(recorded, in_order_of_appearance(unknown, reports), new)


def in_order_of_appearance(unknown: Sequence[str], reports: Sequence[Report]) -> list[str]:
    named = set(unknown)
    return [id_ for id_ in dict.fromkeys(report.conversation_id for report in reports) if id_ in named]
