"""Delete broken joins that a workspace no longer keeps. Tallies count them for ever."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from outcomes.broken_joins.moves.outcome_rows import lock_conversations
from outcomes.models import Outcome
from workspaces.models import Environment, Workspace

# The deletion of a conversation locks the table first and then its row (outcomes.ingest.delete_conversation). Locked in
# the other order, the two could deadlock.
LOCK_TABLE = "LOCK TABLE outcomes_conversation IN ROW EXCLUSIVE MODE"
# The conditions are checked again after the locks: a join that has healed or was reported again meanwhile is kept.
DELETE_JOINS = """
DELETE FROM outcomes_outcome
WHERE environment_id = %(environment)s AND conversation_id = ANY(%(conversations)s) AND broken AND moved_in = 0
  AND first_reported_at <= %(before)s AND last_reported_at <= %(before)s
"""
# The row of an unknown conversation is needed only as long as an outcome or a recorded move names it.
DELETE_CONVERSATIONS = """
DELETE FROM outcomes_conversation AS conversation
WHERE environment_id = %(environment)s AND id = ANY(%(conversations)s) AND started_at IS NULL
  AND NOT EXISTS (
    SELECT FROM outcomes_outcome WHERE environment_id = %(environment)s AND conversation_id = conversation.id
  )
  AND NOT EXISTS (SELECT FROM outcomes_movedoutcome WHERE came_from_id = conversation.id)
"""


def find_expired_joins(workspace: Workspace, before: datetime) -> QuerySet[Outcome]:
    """Return the broken joins last reported by `before` that hold no reports moved in from another environment."""
    return Outcome.objects.filter(environment__workspace=workspace, **_expired_at(before))


def delete_expired_joins(workspace: Workspace, before: datetime, batch: int) -> int:
    """Delete one batch of joins in each environment, and ids that nothing names any more. Return how many joins."""
    return sum(_delete_batch(environment, before, batch) for environment in workspace.environments.order_by("pk"))


@transaction.atomic
def _delete_batch(environment: Environment, before: datetime, batch: int) -> int:
    if not environment.try_hold():
        return 0
    expired_joins = Outcome.objects.filter(environment=environment, **_expired_at(before)).order_by("first_reported_at")
    conversations = sorted(set(expired_joins.values_list("conversation_id", flat=True)[:batch]))
    with connection.cursor() as cursor:
        cursor.execute(LOCK_TABLE)
    lock_conversations(environment, conversations)
    parameters: dict[str, Any] = {"environment": environment.pk, "conversations": conversations, "before": before}
    with connection.cursor() as cursor:
        cursor.execute(DELETE_JOINS, parameters)
        row_count = int(cursor.rowcount)
        cursor.execute(DELETE_CONVERSATIONS, parameters)
    return row_count


def _expired_at(before: datetime) -> dict[str, object]:
    # The condition on the last report implies that on the first report, which serves the index of broken joins.
    return {"broken": True, "moved_in": 0, "first_reported_at__lte": before, "last_reported_at__lte": before}
