"""Moving broken joins to the environment that knows them, and undoing it: all rows and tallies are exactly right."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcomes.broken_joins.healed_joins import find_healed_outcomes, find_longest_healing, measure_healing
from outcomes.broken_joins.moves.move import find_movable, move_broken_joins, undo_move
from outcomes.broken_joins.queries import find_broken_joins
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Move, Outcome
from tests.outcomes.recount_rows import (
    list_search_keys,
    list_tallied_keys,
    read_report_times,
    read_tallies,
    read_tallies_by_api_key,
    recount,
    recount_by_api_key,
)
from wire.time.period import Period
from workspaces.models import AuditEntry, Environment, Workspace

START = datetime(2026, 3, 1, 10, 5, tzinfo=UTC)
EVER = Period(datetime(2000, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC), ZoneInfo("UTC"))
HOUR = timedelta(hours=1)
KEYS = ("purchase", "renewal")


def facts(environment: Environment) -> set[tuple]:
    """Return all outcomes of an environment, without row ids and the columns that are kept for undoing moves."""
    rows = Outcome.objects.filter(environment=environment)
    return set(
        rows.values_list(
            "conversation__conversation_id", "outcome_key", "reports", "first_reported_at", "last_reported_at",
            "broken", "healed_at", "reported_by",
        )
    )  # fmt: skip


def check_tallies(*environments: Environment) -> None:
    for environment in environments:
        counted_buckets = {bucket: numbers for bucket, numbers in read_tallies(environment).items() if any(numbers)}
        assert counted_buckets == recount(environment)
        assert read_tallies_by_api_key(environment) == recount_by_api_key(environment)
        assert list_search_keys(environment) == list_tallied_keys(environment)
        for key in KEYS:
            rows = Outcome.objects.filter(environment=environment, outcome_key=key)
            times = rows.values_list("first_reported_at", "last_reported_at")
            ends = (min(first for first, _ in times), max(last for _, last in times)) if times else (None, None)
            assert read_report_times(environment, key) == ends


def test_only_ids_known_in_the_target_environment_are_moved(environments):
    production, staging = environments
    register_conversations(staging, [Arrival("s1", START)], now=START)
    record_outcomes(
        production, [Report("s1", "purchase")] * 2 + [Report("never", "purchase")], reported_by=7, now=START + HOUR
    )
    move = move_broken_joins(production, staging, EVER, actor="ann", now=START + 2 * HOUR)
    assert (move.outcomes, move.met) == (1, 0)
    assert {row[0] for row in facts(production)} == {"never"}
    assert facts(staging) == {("s1", "purchase", 2, START + HOUR, START + HOUR, False, None, 7)}
    check_tallies(*environments)
    assert move_broken_joins(production, staging, EVER, actor="ann", now=START + 3 * HOUR) is None
    entry = AuditEntry.objects.get(action="broken joins moved")
    assert (entry.actor, entry.facts) == (
        "ann", {"move": move.pk, "from": "production", "to": "staging", "outcomes": 1},
    )  # fmt: skip


def test_a_join_merged_into_an_existing_outcome_is_undone_exactly_despite_later_reports(environments):
    production, staging = environments
    register_conversations(staging, [Arrival("s1", START)], now=START)
    record_outcomes(production, [Report("s1", "purchase")] * 3, reported_by=7, now=START + HOUR)
    record_outcomes(staging, [Report("s1", "purchase")], reported_by=8, now=START + 2 * HOUR)
    before = facts(production), facts(staging)
    move = move_broken_joins(production, staging, EVER, actor="ann", now=START + 3 * HOUR)
    assert move.met == 1
    assert facts(staging) == {("s1", "purchase", 4, START + HOUR, START + 2 * HOUR, False, None, 7)}
    check_tallies(*environments)
    record_outcomes(staging, [Report("s1", "purchase")], reported_by=9, now=START + 4 * HOUR)
    assert undo_move(move, actor="ann", now=START + 5 * HOUR)
    assert facts(production) == before[0]
    assert facts(staging) == {("s1", "purchase", 2, START + 2 * HOUR, START + 4 * HOUR, False, None, 8)}
    check_tallies(*environments)
    assert not undo_move(move, actor="ann", now=START + 6 * HOUR)
    assert AuditEntry.objects.filter(action="move of broken joins undone").count() == 1


def test_an_undone_join_is_listed_in_its_old_position(environments):
    production, staging = environments
    record_outcomes(
        production,
        [Report(f"{prefix}-{number}", "won") for number in range(4) for prefix in ("lost", "next")],
        now=START,
    )
    register_conversations(staging, [Arrival(f"next-{number}") for number in range(4)], now=START)
    before = [row.conversation.conversation_id for row in find_broken_joins(production, EVER)]
    move = move_broken_joins(production, staging, EVER, actor="ann", now=START + HOUR)
    undo_move(move, actor="ann", now=START + 2 * HOUR)
    assert [row.conversation.conversation_id for row in find_broken_joins(production, EVER)] == before


def test_a_join_whose_conversation_was_registered_meanwhile_is_healed_when_undone(environments):
    production, staging = environments
    register_conversations(staging, [Arrival("s1", START)], now=START)
    record_outcomes(production, [Report("s1", "purchase")], now=START + HOUR)
    move = move_broken_joins(production, staging, EVER, actor="ann", now=START + 2 * HOUR)
    register_conversations(production, [Arrival("s1", START)], now=START + 3 * HOUR)
    undo_move(move, actor="ann", now=START + 4 * HOUR)
    ((*_, broken, healed_at, _),) = facts(production)
    assert (broken, healed_at) == (False, START + 3 * HOUR)
    assert facts(staging) == set()
    check_tallies(*environments)


def test_a_move_makes_no_healed_join_of_its_target_take_longer_to_heal(environments):
    production, staging = environments
    record_outcomes(production, [Report("s1", "purchase")], now=START)
    record_outcomes(staging, [Report("s1", "purchase")], now=START + 4 * HOUR)
    register_conversations(staging, [Arrival("s1", START)], now=START + 5 * HOUR)
    move = move_broken_joins(production, staging, EVER, actor="ann", now=START + 6 * HOUR)
    assert move.met == 1
    outcome = find_healed_outcomes(staging, EVER).get()
    assert (outcome.first_reported_at, outcome.healed_after) == (START, HOUR)
    assert measure_healing(staging, EVER).lengths == [HOUR]
    assert find_longest_healing(staging) == HOUR
    undo_move(move, actor="ann", now=START + 7 * HOUR)
    assert find_longest_healing(staging) == find_healed_outcomes(staging, EVER).get().healed_after == HOUR


def test_only_diagnosed_joins_of_the_period_can_be_moved(environments, workspace):
    production, staging = environments
    register_conversations(staging, [Arrival("old"), Arrival("new"), Arrival("undefined")], now=START)
    record_outcomes(production, [Report("old", "purchase")], now=START)
    record_outcomes(production, [Report(id_, "purchase") for id_ in ("new", "undefined", "NEW")], now=START + 9 * HOUR)
    late = Period(START + 8 * HOUR, START + 10 * HOUR, ZoneInfo("UTC"))
    movable = [(production.pk, *ref) for ref in find_movable(production, staging, late)]
    outcomes = Outcome.objects.filter(pk__in=movable)
    assert [outcome.conversation.conversation_id for outcome in outcomes] == ["new"]


def test_an_id_known_in_two_environments_moves_to_the_one_in_its_diagnosis(environments, workspace):
    production, staging = environments
    third = Environment.objects.create(workspace=workspace.workspace, name="third", audience="third")
    for environment in (third, staging):
        register_conversations(environment, [Arrival("s1")], now=START)
    record_outcomes(production, [Report("s1", "purchase")], now=START)
    assert find_movable(production, third, EVER) == []
    assert len(find_movable(production, staging, EVER)) == 1


ids = st.sampled_from([f"c{n}" for n in range(6)])
batches = st.lists(st.builds(Report, ids, st.sampled_from(KEYS)), min_size=1, max_size=6)
arrivals = st.lists(st.builds(Arrival, ids), min_size=1, max_size=3)
steps = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.one_of(batches.map(tuple), arrivals.map(tuple), st.integers(0, 2)),
        st.integers(1, 9),
    ),
    max_size=20,
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps, st.randoms(use_true_random=False))
def test_undoing_all_moves_in_any_order_gives_the_state_without_moves(db, steps, chance):
    check_undoing(steps, chance)


@pytest.mark.parametrize("seed", range(6))
def test_undoing_is_exact_after_a_long_history_with_many_moves(db, seed):
    chance = random.Random(seed)
    assert check_undoing([any_step(chance) for _ in range(80)], chance) >= 1


def any_step(chance: random.Random) -> tuple:
    kind, id_ = chance.randrange(10), f"c{chance.randrange(25)}"
    if kind < 2:
        return chance.randrange(3), chance.randrange(3), 1
    step = Arrival(id_) if kind < 4 else Report(id_, chance.choice(KEYS))
    return chance.randrange(3), (step,), chance.randint(1, 9)


def check_undoing(steps: Sequence[tuple], chance: random.Random) -> int:
    """Play a history with and without its moves, undo the moves, and compare. Return the number of moves."""
    with_moves, without = three_environments(), three_environments()
    moves, now = [], START
    for number, step, key in steps:
        now += timedelta(minutes=7)
        if isinstance(step, int):
            source, target = with_moves[number], with_moves[step]
            if step != number and (move := move_broken_joins(source, target, EVER, actor="x", now=now)):
                moves.append(move)
        else:
            for environments in (with_moves, without):
                play(environments[number], step, key, now)
    check_tallies(*with_moves)
    chance.shuffle(moves)
    for move in moves:
        assert undo_move(Move.objects.get(pk=move.pk), actor="x", now=now)
        check_tallies(*with_moves)
    assert [facts(environment) for environment in with_moves] == [facts(environment) for environment in without]
    assert not Outcome.objects.filter(environment__in=with_moves, moved_in__gt=0).exists()
    return len(moves)


def play(environment: Environment, step: tuple, key: int, now: datetime) -> None:
    if isinstance(step[0], Report):
        record_outcomes(environment, step, reported_by=key, now=now)
    else:
        register_conversations(environment, step, now=now)


def three_environments() -> list[Environment]:
    """Create a workspace with three environments. It is always a new one: diagnoses look at all environments."""
    slug = f"w{Workspace.objects.count()}"
    workspace = Workspace.objects.create(name=slug, slug=slug)
    return [Environment.objects.create(workspace=workspace, name=f"e{n}", audience=f"{slug}:{n}") for n in range(3)]
