"""Store a batch of outcome reports (contract §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from outcomes.ingest.report_sql import RECORD
from wire.postgresql.prepared_statements import open_prepared_cursor
from wire.postgresql.unconfirmed_commits import confirm_statement
from workspaces.errors import EnvironmentRemoved
from workspaces.models import Environment


@dataclass(frozen=True)
class Report:
    """One item of a batch: this conversation had this outcome. Both are exact strings."""

    conversation_id: str
    outcome_key: str


@dataclass(frozen=True)
class Receipt:
    """The result of storing a batch.

    recorded: the number of items whose conversation is known.
    unknown: the ids of all other conversations, without repetition, in order of first appearance.
    new: the number of outcomes that did not exist before, without broken joins.
    """

    recorded: int
    unknown: Sequence[str]
    new: int

    def as_json(self) -> dict[str, Any]:
        """Return the body of the answer (contract §2)."""
        return {"recorded": self.recorded, "unknownConversations": list(self.unknown)}


def record_outcomes(
    environment: Environment, reports: Sequence[Report], *, reported_by: int | None = None, now: datetime
) -> Receipt:
    """Store one batch, all of it or nothing.

    Known conversations get their outcomes, the others a broken join that heals when they arrive. All this is one
    statement. Outside a transaction, no other statement is needed to begin, to lock the environment or to commit.

    reported_by: row id of the API key.

    Raises EnvironmentRemoved.
    """
    parameters: dict[str, Any] = {
        "environment": environment.pk,
        "conversation_ids": [report.conversation_id for report in reports],
        "outcome_keys": [report.outcome_key for report in reports],
        "reported_by": reported_by,
        "now": now,
    }
    with open_prepared_cursor() as cursor, confirm_statement():
        cursor.execute(RECORD, parameters)
        environment_exists, item_count, new, unknown_ids = cursor.fetchone()
    if not environment_exists:
        raise EnvironmentRemoved
    return Receipt(item_count, _sort_by_appearance(unknown_ids, reports), new)


def _sort_by_appearance(unknown_ids: Sequence[str], reports: Sequence[Report]) -> list[str]:
    unknown = set(unknown_ids)
    return [id_ for id_ in dict.fromkeys(report.conversation_id for report in reports) if id_ in unknown]
