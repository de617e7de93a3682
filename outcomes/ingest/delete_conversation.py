"""Delete all that is stored of a conversation id, and take it out of the tallies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from django.db import OperationalError, connection, transaction
from django.db.models import Model, QuerySet

from outcomes.broken_joins.moves.outcome_rows import ReportSummary, count_outcome, lock_conversations
from outcomes.models import Conversation, MovedOutcome, Outcome
from outcomes.tallies.adjust_to_moves_and_deletions import TallyChange, adjust_tallies, lock_adjustments
from wire.errors import Unavailable
from wire.postgresql.sqlstates import is_lock_timeout
from workspaces.models import Environment, Workspace

ATTEMPTS = 5
# A concurrent report may have read that the conversation is known, and may write its outcome without locking the row.
# This lock waits for all current writers. Later writers queue behind it and then read again. The lock's timeout is
# short, so that they do not wait long.
LOCK_OUT_WRITERS = (
    "SET LOCAL lock_timeout = '2s'",
    "LOCK TABLE outcomes_conversation IN SHARE ROW EXCLUSIVE MODE",
)
DELETE_CONVERSATION = "DELETE FROM outcomes_conversation WHERE environment_id = %s AND id = %s"


def delete_conversation(
    workspace: Workspace, conversation_id: str, environment_names: Sequence[str] = ()
) -> Mapping[str, int]:
    """Delete the conversation in these environments, all if none is named; return the number of rows by table.

    Afterwards the tallies are as if the conversation had never existed. Raises Unavailable if other transactions keep
    their locks for too long.
    """
    for _ in range(ATTEMPTS):
        try:
            return _delete_of_environments(workspace, conversation_id, environment_names)
        except OperationalError as error:
            if not is_lock_timeout(error):
                raise
    raise Unavailable


def count_conversation(
    workspace: Workspace, conversation_id: str, environment_names: Sequence[str] = ()
) -> Mapping[str, int]:
    """Return how many rows a deletion would delete, by table."""
    conversations = _find_conversations(workspace, conversation_id, environment_names)
    return _name_counts(
        {
            Conversation: conversations.count(),
            Outcome: sum(_find_outcomes(conversation).count() for conversation in conversations),
            MovedOutcome: MovedOutcome.objects.filter(conversation__in=conversations).count(),
        }
    )


@transaction.atomic
def _delete_of_environments(
    workspace: Workspace, conversation_id: str, environment_names: Sequence[str]
) -> Mapping[str, int]:
    row_counts: Counter[type[Model]] = Counter()
    for environment in workspace.environments.order_by("pk"):
        environment.hold()
    lock_adjustments(workspace.pk)
    with connection.cursor() as cursor:
        for statement in LOCK_OUT_WRITERS:
            cursor.execute(statement)
    for conversation in _find_conversations(workspace, conversation_id, environment_names).select_related(
        "environment"
    ):
        lock_conversations(conversation.environment, [conversation.pk])
        row_counts.update(_delete_rows(conversation.environment, conversation))
    return _name_counts(row_counts)


def _delete_rows(environment: Environment, conversation: Conversation) -> Mapping[type[Model], int]:
    conversation.refresh_from_db(from_queryset=Conversation.objects.filter(environment=environment))
    outcomes = _find_outcomes(conversation)
    changes = list(_list_tally_changes(conversation, list(outcomes)))
    # Delete also the records of outcomes that moves brought here. Outcomes that were moved away stay in their new
    # environment; undoing that move restores nothing here.
    move_count = MovedOutcome.objects.filter(conversation=conversation).delete()[0]
    counts = {MovedOutcome: move_count, Outcome: outcomes.delete()[0], Conversation: 1}
    with connection.cursor() as cursor:  # Django's cascade would also delete the records of outcomes moved away
        cursor.execute(DELETE_CONVERSATION, [environment.pk, conversation.pk])
    if changes:
        adjust_tallies(environment, changes)
    return counts


def _list_tally_changes(conversation: Conversation, outcomes: Sequence[Outcome]) -> Iterator[TallyChange]:
    """Yield what the tallies lose."""
    if conversation.started_at:
        yield TallyChange("", conversation.started_at, conversations=-1)
    for outcome in outcomes:
        summary = ReportSummary(
            outcome.reports, outcome.first_reported_at, outcome.last_reported_at, outcome.reported_by
        )
        started_at = None if outcome.broken else conversation.started_at
        yield from count_outcome(outcome.outcome_key, summary, started_at, sign=-1)


def _find_conversations(
    workspace: Workspace, conversation_id: str, environment_names: Sequence[str]
) -> QuerySet[Conversation]:
    environments = workspace.environments.all()
    if environment_names:
        environments = environments.filter(name__in=environment_names)
    return Conversation.objects.filter(environment__in=list(environments), conversation_id=conversation_id).order_by(
        "pk"
    )


def _find_outcomes(conversation: Conversation) -> QuerySet[Outcome]:
    return Outcome.objects.filter(environment=conversation.environment_id, conversation_id=conversation.pk)


def _name_counts(counts: Mapping[type[Model], int]) -> Mapping[str, int]:
    return {model._meta.db_table: count for model, count in counts.items() if count}
