"""Moves and their undoing never change how many outcomes were reported to an environment."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from outcomes.broken_joins.move import move_broken_joins, undo_move
from outcomes.broken_joins.rates import read_rates_by_api_key
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.tallies.moved_counts import NOTHING_MOVED, CountWithoutMoves, count_moved, leave_out_moved_here
from outcomes.tallies.series import read_totals
from wire.period import parse_period
from workspaces.keys.create import create_key
from workspaces.models import ApiKey

pytestmark = pytest.mark.django_db
NAMES = [f"conversation-{number}" for number in range(12)]


def count_reported(environment, period):
    moved = count_moved(environment, period)
    keys = {str(key): key.pk for key in ApiKey.objects.all()}
    tallied = {keys[rate.name]: rate.total_reported for rate in read_rates_by_api_key(environment, period).rates}
    counts = {key: moved.count_reported(key, tallied.get(key, 0)) for key in keys.values()}
    return {key: count for key, count in counts.items() if count}


@pytest.mark.parametrize("seed", range(6))
def test_no_move_changes_how_many_outcomes_a_key_reported(workspace, seed):
    """Some moved outcomes are in the target already, first reported by another key or long ago."""
    chance, now = random.Random(seed), timezone.now()
    period = parse_period({}, now=now)
    environments = [workspace.workspace.environments.get(name=name) for name in ("production", "staging")]
    create_key(workspace.workspace, scopes=["report"], name="other", actor="ann", now=now)
    keys = list(ApiKey.objects.filter(scopes__contains=["report"]).values_list("pk", flat=True))
    assert len(keys) > 1
    register_conversations(environments[1], [Arrival(name) for name in NAMES[:8]], now=now - timedelta(days=30))
    for _ in range(30):
        environment, name = chance.choice(environments), chance.choice(NAMES)
        at = now - timedelta(days=chance.choice([0, 1, 12]))
        record_outcomes(environment, [Report(name, "purchase")], now=at, reported_by=chance.choice(keys))
    before = [count_reported(environment, period) for environment in environments]
    assert count_moved(environments[0], period) == NOTHING_MOVED
    move = move_broken_joins(*environments, parse_period({"range": "30d"}, now=now), actor="ann", now=now)
    assert move is not None
    assert [count_reported(environment, period) for environment in environments] == before
    assert sum(count_moved(environments[0], period).total_away.values()) == sum(
        count_moved(environments[1], period).total_here.values()
    )
    undo_move(move, actor="ann", now=now)
    assert [count_reported(environment, period) for environment in environments] == before


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
