"""Counts and broken rates without moves are those that would be there if nothing had been moved."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.ingest.delete_conversation import delete_conversation
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.tallies.moved_counts import count_moved
from outcomes.tallies.series import read_totals
from outcomes.tallies.without_moves import CountWithoutMoves, leave_out_moved_here, leave_out_moves
from wire.time.period import parse_period

pytestmark = pytest.mark.django_db


def test_an_outcome_that_a_move_dates_back_is_missing_in_the_period_of_its_own_report(workspace):
    """No outcome of the later period was moved. Even so, the move took one outcome out of that period."""
    now = timezone.now()
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    register_conversations(staging, [Arrival("a"), Arrival("b")], now=now - timedelta(days=30))
    record_outcomes(staging, [Report("a", "purchase"), Report("b", "purchase")], now=now)
    record_outcomes(production, [Report("a", "purchase")], now=now - timedelta(days=9))
    period = parse_period({"range": "7d"}, now=now)
    assert move_broken_joins(production, staging, parse_period({"range": "30d"}, now=now), actor="ann", now=now)
    moved = count_moved(staging, period), count_moved(staging, period.previous())
    counts = tuple(read_totals(staging, part).outcomes for part in (period, period.previous()))
    assert counts == (1, 1)
    assert [part.count_all_reported(count) for part, count in zip(moved, counts, strict=True)] == [2, 0]
    assert leave_out_moved_here(counts, moved) == CountWithoutMoves(2, 0, moved_here=0, keeps_direction=False)
    assert leave_out_moved_here(counts, moved, ["refund"]) is None


def test_a_moved_join_that_would_have_healed_by_now_is_not_broken_without_moves(workspace):
    """The outcome was reported to production, where its conversation is registered only after the move."""
    now = timezone.now()
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    register_conversations(staging, [Arrival("a"), Arrival("b")], now=now)
    record_outcomes(production, [Report("a", "purchase"), Report("b", "purchase")], now=now)
    period = parse_period({}, now=now)
    move = move_broken_joins(production, staging, period, actor="ann", now=now)
    register_conversations(production, [Arrival("a")], now=now)
    moved = count_moved(production, period), count_moved(production, period.previous())
    totals = read_totals(production, period), read_totals(production, period.previous())
    rate = leave_out_moves(totals, moved)
    undo_move(move, actor="ann", now=now)
    undone = read_totals(production, period)
    assert (rate.value, rate.total) == (undone.broken, undone.reported_outcomes) == (1, 2)


def test_a_moved_join_whose_conversation_was_deleted_counts_no_more_without_moves(workspace):
    now = timezone.now()
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    register_conversations(staging, [Arrival("a"), Arrival("b")], now=now)
    record_outcomes(production, [Report("a", "purchase"), Report("b", "purchase")], now=now)
    period = parse_period({}, now=now)
    assert move_broken_joins(production, staging, period, actor="ann", now=now)
    delete_conversation(workspace.workspace, "a", ["production"])
    rate = leave_out_moves((read_totals(production, period),) * 2, (count_moved(production, period),) * 2)
    assert (rate.value, rate.total, rate.moved_away) == (1, 1, {"staging": 1})
