"""Move broken joins to the environment that knows their conversations, and undo a move exactly.

Undoing restores what would be stored if nothing had been moved, whatever was reported, registered, moved or undone
since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from outcomes.broken_joins.diagnosed_joins import IDS_AT_ONCE, diagnose_ids, list_environment_names
from outcomes.broken_joins.moves import sql
from outcomes.broken_joins.moves.outcome_rows import (
    OutcomeRef,
    OutcomeUpdate,
    ReportSummary,
    StoredOutcome,
    count_outcome,
    delete_outcomes,
    lock_conversations,
    lock_outcomes,
    merge_summaries,
    ref_columns,
    write_updates,
)
from outcomes.models import Move, MovedOutcome
from outcomes.tallies.adjust_to_moves_and_deletions import lock_adjustments
from wire.batches import split_into_batches
from wire.tallies.spans import widen_to_quarters
from wire.time.period import Period
from workspaces.audit.record import record_audit
from workspaces.models import Environment

ROWS_WRITTEN_AT_ONCE = 2000


@dataclass(frozen=True)
class MovingJoin:
    """A broken join that is moved from one conversation's row to another's."""

    source_conversation: int
    target_conversation: int
    key: str
    summary: ReportSummary

    @property
    def source(self) -> OutcomeRef:
        return OutcomeRef(self.source_conversation, self.key)

    @property
    def target(self) -> OutcomeRef:
        return OutcomeRef(self.target_conversation, self.key)

    def as_moved_outcome(self, move: Move) -> MovedOutcome:
        return MovedOutcome(
            move=move,
            came_from_id=self.source_conversation,
            conversation_id=self.target_conversation,
            outcome_key=self.key,
            reports=self.summary.reports,
            first_reported_at=self.summary.first_at,
            last_reported_at=self.summary.last_at,
            reported_by=self.summary.reported_by,
        )


def find_movable(source: Environment, target: Environment, period: Period) -> Sequence[OutcomeRef]:
    """Return the broken joins, first reported in the period, whose diagnosis names `target`."""
    start, end = widen_to_quarters(period)
    with connection.cursor() as cursor:
        query: dict[str, Any] = {"source": source.pk, "target": target.pk, "start": start, "end": end}
        cursor.execute(sql.SELECT_KNOWN_IN_TARGET, query)
        rows = cursor.fetchall()
    names = list_environment_names(source)
    movable: list[OutcomeRef] = []
    for batch in split_into_batches(rows, IDS_AT_ONCE):
        diagnoses = diagnose_ids(source, names, {reported_id for _, _, reported_id in batch})
        movable += [
            OutcomeRef(conversation, key)
            for conversation, key, reported_id in batch
            if diagnoses[reported_id].found_in == target.name
        ]
    return movable


@transaction.atomic
def move_broken_joins(
    source: Environment, target: Environment, period: Period, *, actor: str, now: datetime
) -> Move | None:
    """Move all that is movable, record it, and return the move; None if nothing is movable (any more)."""
    _lock_environments(source, target)
    moving_joins = _detach_joins(source, target, find_movable(source, target, period))
    if not moving_joins:
        return None
    outcomes = lock_outcomes(target, [join.target for join in moving_joins], now=now, create_missing=True)
    merged_outcomes = sum(outcome.total.reports > 0 for outcome in outcomes)
    move = Move.objects.create(
        source=source, target=target, moved_at=now, moved_by=actor, outcomes=len(moving_joins), met=merged_outcomes
    )
    source_changes = [
        change for join in moving_joins for change in count_outcome(join.key, join.summary, None, sign=-1)
    ]
    write_updates(source, (), source_changes)
    write_updates(target, _add_joins(outcomes, moving_joins))
    moved_rows = [join.as_moved_outcome(move) for join in moving_joins]
    MovedOutcome.objects.bulk_create(moved_rows, batch_size=ROWS_WRITTEN_AT_ONCE)
    _audit(move, "broken joins moved", actor=actor, now=now)
    return move


def _detach_joins(source: Environment, target: Environment, refs: Sequence[OutcomeRef]) -> Sequence[MovingJoin]:
    """Delete these outcomes, as far as they are still broken joins, and return the deleted ones."""
    lock_conversations(source, [ref.conversation for ref in refs])
    with connection.cursor() as cursor:
        cursor.execute(sql.LOCK_BROKEN_JOINS, {"source": source.pk, "target": target.pk, **ref_columns(refs)})
        moving_joins = [
            MovingJoin(source_conversation, target_conversation, key, ReportSummary(*summary))
            for source_conversation, target_conversation, key, *summary in cursor.fetchall()
        ]
    delete_outcomes(source, [join.source for join in moving_joins])
    return moving_joins


def _add_joins(outcomes: Sequence[StoredOutcome], moving_joins: Sequence[MovingJoin]) -> Sequence[OutcomeUpdate]:
    by_target: dict[OutcomeRef, list[ReportSummary]] = defaultdict(list)
    for join in moving_joins:
        by_target[join.target].append(join.summary)
    return [
        OutcomeUpdate(outcome, outcome.own, [*outcome.moved_summaries, *by_target[outcome.ref]], outcome.healed_at)
        for outcome in outcomes
    ]


@transaction.atomic
def undo_move(move: Move, *, actor: str, now: datetime) -> bool:
    """Undo a move and record it; return False if it was undone before."""
    _lock_environments(move.source, move.target)
    move.refresh_from_db()
    if move.undone_at:
        return False
    moved_rows = list(move.moved.all())
    lock_conversations(move.source, [row.came_from_id for row in moved_rows])
    _restore_in_source(move, moved_rows, now=now)
    _remove_from_target(move, moved_rows, now=now)
    move.undone_at, move.undone_by = now, actor
    move.save(update_fields=["undone_at", "undone_by"])
    _audit(move, "move of broken joins undone", actor=actor, now=now)
    return True


def _restore_in_source(move: Move, moved_rows: Sequence[MovedOutcome], *, now: datetime) -> None:
    """Add the moved reports to those sent since; the outcome is healed if its conversation is known there by now."""
    summaries = {OutcomeRef(row.came_from_id, row.outcome_key): _summary_of(row) for row in moved_rows}
    outcomes = lock_outcomes(move.source, list(summaries), now=now, create_missing=True)
    write_updates(move.source, [_undo_for_outcome(outcome, summaries[outcome.ref]) for outcome in outcomes])


def _undo_for_outcome(outcome: StoredOutcome, summary: ReportSummary) -> OutcomeUpdate:
    own = merge_summaries([outcome.own, summary]) if outcome.own else summary
    return OutcomeUpdate(outcome, own, outcome.moved_summaries, outcome.registered_at)


def _remove_from_target(move: Move, moved_rows: Sequence[MovedOutcome], *, now: datetime) -> None:
    """Take the moved reports out of the target, and keep its own reports and those of other moves."""
    refs = [OutcomeRef(row.conversation_id, row.outcome_key) for row in moved_rows]
    outcomes = lock_outcomes(move.target, refs, now=now)
    by_other_moves = _summaries_of_other_moves(move, outcomes)
    write_updates(
        move.target,
        [
            OutcomeUpdate(outcome, outcome.own, by_other_moves.get(outcome.ref, ()), outcome.healed_at)
            for outcome in outcomes
        ],
    )


def _summaries_of_other_moves(
    move: Move, outcomes: Sequence[StoredOutcome]
) -> Mapping[OutcomeRef, Sequence[ReportSummary]]:
    summaries: dict[OutcomeRef, list[ReportSummary]] = defaultdict(list)
    conversations = [outcome.ref.conversation for outcome in outcomes]
    for row in MovedOutcome.objects.filter(conversation__in=conversations, move__undone_at=None).exclude(move=move):
        summaries[OutcomeRef(row.conversation_id, row.outcome_key)].append(_summary_of(row))
    return summaries


def _summary_of(row: MovedOutcome) -> ReportSummary:
    return ReportSummary(row.reports, row.first_reported_at, row.last_reported_at, row.reported_by)


def _lock_environments(source: Environment, target: Environment) -> None:
    """Keep both from being removed, and let one move of a workspace run at a time."""
    source.hold()
    target.hold()
    lock_adjustments(source.workspace_id)


def _audit(move: Move, action: str, *, actor: str, now: datetime) -> None:
    facts = {"move": move.pk, "from": move.source.name, "to": move.target.name, "outcomes": move.outcomes}
    record_audit(move.source.workspace_id, action, facts, actor=actor, now=now)
