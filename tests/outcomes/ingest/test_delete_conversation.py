"""Deleting a conversation id deletes all its rows. The tallies become what they would be without the conversation."""

from __future__ import annotations

import random
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from outcomes.alike_keys import find_lookalikes
from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.ingest import delete_conversation as room
from outcomes.ingest.delete_conversation import count_conversation, delete_conversation
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Conversation, MovedOutcome, Outcome
from outcomes.tallies.first_and_last_data import find_first_data, find_first_moment
from tests.outcomes.recount_rows import (
    read_report_times,
    read_tallies,
    read_tallies_by_api_key,
    recount,
    recount_by_api_key,
)
from wire.errors import Unavailable
from wire.time.period import parse_period

START = datetime(2026, 3, 1, 10, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
EVER = parse_period({"range": "all"}, now=START + 1000 * HOUR)
KEYS = ("purchase", "renewal")
pytestmark = pytest.mark.django_db


def check_tallies(*environments) -> None:
    for environment in environments:
        counted = {bucket: numbers for bucket, numbers in read_tallies(environment).items() if any(numbers)}
        assert counted == recount(environment)
        assert read_tallies_by_api_key(environment) == recount_by_api_key(environment)
        for key in KEYS:
            times = Outcome.objects.filter(environment=environment, outcome_key=key).values_list(
                "first_reported_at", "last_reported_at"
            )
            ends = (min(first for first, _ in times), max(last for _, last in times)) if times else (None, None)
            assert read_report_times(environment, key) == ends


def list_ids() -> set[tuple[str, str]]:
    return set(Conversation.objects.values_list("environment__name", "conversation_id"))


def test_a_known_conversation_is_deleted_with_its_outcomes(environments, workspace):
    for environment in environments:
        register_conversations(environment, [Arrival("c1", START), Arrival("c2", START)], now=START)
        items = [Report(id_, key) for id_ in ("c1", "c2", "odd") for key in KEYS]
        record_outcomes(environment, items, reported_by=7, now=START + HOUR)
    expected = {"outcomes_conversation": 2, "outcomes_outcome": 4}
    assert count_conversation(workspace.workspace, "c1") == expected
    assert delete_conversation(workspace.workspace, "c1") == expected
    assert list_ids() == {(name, id_) for name in ("production", "staging") for id_ in ("c2", "odd")}
    check_tallies(*environments)
    assert delete_conversation(workspace.workspace, "c1") == {}
    check_tallies(*environments)


def test_the_deletion_can_be_limited_to_one_environment(environments, workspace):
    for environment in environments:
        register_conversations(environment, [Arrival("c1", START)], now=START)
    assert delete_conversation(workspace.workspace, "c1", ["staging"]) == {"outcomes_conversation": 1}
    assert list_ids() == {("production", "c1")}
    check_tallies(*environments)


def test_another_workspace_keeps_its_conversation_of_the_same_id(environments, workspace, other_workspace):
    foreign_environment = other_workspace.workspace.environments.get(name="production")
    register_conversations(foreign_environment, [Arrival("c1", START)], now=START)
    assert delete_conversation(workspace.workspace, "c1") == {}
    assert Conversation.objects.get().environment == foreign_environment


def test_broken_joins_and_healed_outcomes_are_deleted_too(environments, workspace):
    production, _ = environments
    record_outcomes(production, [Report("late", "purchase"), Report("never", "purchase")], reported_by=7, now=START)
    register_conversations(production, [Arrival("late", START)], now=START + HOUR)
    for id_ in ("late", "never"):
        assert delete_conversation(workspace.workspace, id_)["outcomes_outcome"] == 1
    assert not Outcome.objects.exists()
    check_tallies(*environments)


def move_c1(production, staging):
    register_conversations(staging, [Arrival("c1", START)], now=START)
    record_outcomes(production, [Report("c1", "purchase")], now=START + HOUR)
    record_outcomes(staging, [Report("c1", "purchase")], now=START + 2 * HOUR)
    return move_broken_joins(production, staging, EVER, actor="ann", now=START + 3 * HOUR)


@pytest.mark.parametrize(
    ("named", "ids"), [((), set()), (["staging"], {("production", "c1")}), (["production"], {("staging", "c1")})]
)
def test_after_a_moved_join_is_deleted_on_either_side_its_move_can_be_undone(environments, workspace, named, ids):
    move = move_c1(*environments)
    counts = delete_conversation(workspace.workspace, "c1", named)
    assert list_ids() == ids
    assert counts.get("outcomes_movedoutcome", 0) == MovedOutcome.objects.count() ^ 1
    check_tallies(*environments)
    assert undo_move(move, actor="ann", now=START + 4 * HOUR)
    check_tallies(*environments)


def test_the_data_of_an_environment_begin_after_those_that_were_deleted_or_moved_away(environments, workspace):
    production, staging = environments
    later = START + 30 * 24 * HOUR
    for name, at in (("trial", START), ("c1", later)):
        register_conversations(production, [Arrival(name, at)], now=at)
        record_outcomes(production, [Report(name, "purchase")], now=at)
    record_outcomes(staging, [Report("trial", "purchase")], now=START)
    assert [find_first_data(environment) for environment in environments] == [START.replace(minute=0)] * 2
    move_broken_joins(staging, production, EVER, actor="ann", now=later)
    assert find_first_data(staging) is None
    delete_conversation(workspace.workspace, "trial")
    assert find_first_data(production) == later.replace(minute=0)
    assert find_first_moment(production) == later


def test_a_spelling_whose_outcomes_are_all_deleted_is_warned_of_no_more(environments, workspace):
    production, _ = environments
    for name, key in (("trial", "Purchase"), ("c1", "purchase")):
        register_conversations(production, [Arrival(name)], now=START)
        record_outcomes(production, [Report(name, key)], now=START)
    assert find_lookalikes(production, ["purchase"]) == {"purchase": ["Purchase"]}
    delete_conversation(workspace.workspace, "trial")
    assert find_lookalikes(production, ["purchase"]) == {}


def test_a_deleted_id_can_be_registered_again(environments, workspace):
    production, _ = environments
    for _round in range(2):
        record_outcomes(production, [Report("c1", "purchase")], now=START)
        register_conversations(production, [Arrival("c1", START)], now=START)
        delete_conversation(workspace.workspace, "c1")
        check_tallies(*environments)


@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_reports_moves_and_deletions_adds_up(environments, workspace, seed):
    chance, now = random.Random(seed), START
    ids = [f"c{number}" for number in range(6)]
    for _ in range(60):
        now += timedelta(minutes=chance.randrange(90))
        environment, id_ = chance.choice(environments), chance.choice(ids)
        step = chance.randrange(5)
        if step < 2:
            record_outcomes(environment, [Report(id_, chance.choice(KEYS))], reported_by=chance.randrange(3), now=now)
        elif step == 2:
            register_conversations(environment, [Arrival(id_)], now=now)
        elif step == 3:
            move_broken_joins(*chance.sample(environments, 2), EVER, actor="ann", now=now)
        else:
            delete_conversation(workspace.workspace, id_, chance.choice([(), ["staging"], ["production"]]))
    check_tallies(*environments)


@pytest.mark.django_db(transaction=True)
def test_deleting_during_reports_and_registrations_leaves_no_outcome_without_its_conversation(workspace, production):
    faults: list[BaseException] = []
    is_over = threading.Event()

    def write() -> None:
        chance = random.Random(threading.get_ident())
        try:
            while not is_over.is_set():
                register_conversations(production, [Arrival("c1", START), Arrival("c2", START)], now=START)
                items = [Report(chance.choice(["c1", "c2"]), chance.choice(KEYS)) for _ in range(3)]
                record_outcomes(production, items, reported_by=1, now=START + HOUR)
        except BaseException as error:
            faults.append(error)
        finally:
            connection.close()

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    deleted = sum(delete_conversation(workspace.workspace, "c1").get("outcomes_outcome", 0) for _ in range(60))
    is_over.set()
    for writer in writers:
        writer.join(30)
    assert faults == []
    assert deleted > 10
    conversations = Conversation.objects.values("pk")
    assert not Outcome.objects.exclude(conversation_id__in=conversations).exists()
    check_tallies(production)


@pytest.mark.django_db(transaction=True)
def test_a_deletion_gives_up_with_a_clear_answer_when_it_cannot_get_its_locks(workspace, monkeypatch):
    monkeypatch.setattr(room, "ATTEMPTS", 2)
    monkeypatch.setattr(room, "LOCK_OUT_WRITERS", ("SET LOCAL lock_timeout = '50ms'", *room.LOCK_OUT_WRITERS[1:]))
    is_held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            production = workspace.workspace.environments.get(name="production")
            register_conversations(production, [Arrival("c1", START)], now=START)
            is_held.set()
            go_on.wait(30)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert is_held.wait(10)
    with pytest.raises(Unavailable):
        delete_conversation(workspace.workspace, "c1")
    go_on.set()
    holder.join(30)
    assert delete_conversation(workspace.workspace, "c1") == {"outcomes_conversation": 1}
