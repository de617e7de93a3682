"""Moves and their undoing never change how many outcomes were reported to an environment."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.broken_joins.rates import read_rates_by_api_key
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.tallies.moved_counts import NOTHING_MOVED, count_moved
from outcomes.tallies.series import read_totals
from outcomes.tallies.without_moves import CountWithoutMoves, leave_out_moved_here, leave_out_moves
from wire.time.period import parse_period
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
    away, here = (count_moved(environment, period) for environment in environments)
    assert sum(away.total_away.values()) == sum(sum(counts.values()) for counts in here.here.values())
    undo_move(move, actor="ann", now=now)
    assert [count_reported(environment, period) for environment in environments] == before


@pytest.mark.parametrize("seed", range(6))
def test_an_outcome_that_is_reported_again_after_its_move_counts_once(workspace, seed):
    """Moves follow one another, and between them the same ids are reported again to both environments."""
    chance, now = random.Random(seed), timezone.now()
    environments = [workspace.workspace.environments.get(name=name) for name in ("production", "staging")]
    create_key(workspace.workspace, scopes=["report"], name="other", actor="ann", now=now)
    keys = list(ApiKey.objects.filter(scopes__contains=["report"]).values_list("pk", flat=True))
    register_conversations(environments[1], [Arrival(name) for name in NAMES[:4]], now=now - timedelta(days=30))
    first_reports, moves = {}, []
    for step in range(30):
        at = now - timedelta(days=12) + step * timedelta(hours=9)
        index, name, key = chance.choice([0, 1]), chance.choice(NAMES[:6]), chance.choice(keys)
        record_outcomes(environments[index], [Report(name, "purchase")], now=at, reported_by=key)
        first_reports.setdefault((index, name), (at, key))
        if step % 5 == 4:
            moves.append(move_broken_joins(*environments, parse_period({"range": "30d"}, now=now), actor="a", now=at))
    undo_move(next(filter(None, moves)), actor="ann", now=now)
    period = parse_period({}, now=now)
    for index, environment in enumerate(environments):
        reports = [report for (at_index, _), report in first_reports.items() if at_index == index]
        expected = Counter(key for at, key in reports if at >= period.start)
        assert count_reported(environment, period) == expected
        totals, moved = read_totals(environment, period), count_moved(environment, period)
        assert moved.count_all_reported(totals.reported_outcomes) == expected.total()
    rate = leave_out_moves((read_totals(environments[0], period),) * 2, (count_moved(environments[0], period),) * 2)
    assert rate is None or rate.value == rate.total


def test_an_outcome_that_was_moved_twice_is_one_moved_outcome(workspace):
    now = timezone.now()
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    register_conversations(staging, [Arrival("a")], now=now)
    period = parse_period({}, now=now)
    for _ in range(2):
        record_outcomes(production, [Report("a", "purchase")], now=now)
        assert move_broken_joins(production, staging, period, actor="ann", now=now)
    away, here = count_moved(production, period), count_moved(staging, period)
    assert (away.total_away, here.added, here.added_by_key) == ({"staging": 1}, {"production": 1}, {"purchase": 1})
    assert leave_out_moved_here((1, 0), (here, NOTHING_MOVED)) == CountWithoutMoves(0, 0, 1, keeps_direction=False)


def test_only_outcomes_that_a_move_added_to_the_period_are_said_to_be_moved_here(workspace):
    """Of three moved joins, one was reported here long ago, one was reported here on the same day, too."""
    now = timezone.now()
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    register_conversations(staging, [Arrival(name) for name in "abc"], now=now - timedelta(days=30))
    record_outcomes(staging, [Report("a", "purchase")], now=now - timedelta(days=12))
    record_outcomes(staging, [Report("b", "purchase")], now=now)
    record_outcomes(production, [Report(name, "purchase") for name in "abc"], now=now)
    period = parse_period({}, now=now)
    assert move_broken_joins(production, staging, period, actor="ann", now=now)
    totals, moved = read_totals(staging, period), count_moved(staging, period)
    assert totals.outcomes == 2
    counts = leave_out_moved_here((totals.outcomes, 1), (moved, NOTHING_MOVED))
    assert counts == CountWithoutMoves(1, 1, moved_here=1, keeps_direction=False)
    rate = leave_out_moves((totals, totals), (moved, NOTHING_MOVED))
    assert rate is not None
    assert (rate.total, rate.moved_here) == (1, {"production": 1})
