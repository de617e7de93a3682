"""Simultaneous connections cause no deadlock, lose no tally, and leave no broken join of a registered conversation."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.utils import timezone

from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.ingest.record import Receipt, Report, record_outcomes
from outcomes.ingest.register import Arrival, RegistrationReceipt, register_conversations
from outcomes.models import Conversation, Outcome
from tests.outcomes.recount_rows import (
    list_search_keys,
    list_tallied_keys,
    read_tallies,
    read_tallies_by_api_key,
    recount,
    recount_by_api_key,
)
from wire.time.period import parse_period
from workspaces.keys.create import create_key
from workspaces.models import Environment
from workspaces.secrets.rotate import rotate_secret

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(acts: Sequence[Callable[[], object]]) -> list[object]:
    """Run all functions at the same time on separate connections; raise the first exception of any."""
    start = Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        try:
            start.wait(timeout=20)
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as threads:
        return [done.result() for done in [threads.submit(run, act) for act in acts]]


def test_overlapping_batches_in_any_order_never_deadlock_and_lose_nothing(production):
    chance = random.Random(7)
    ids = [f"c{n}" for n in range(150)]
    register_conversations(production, [Arrival(id_) for id_ in ids[::3]], now=timezone.now())

    def reports() -> list[Receipt]:
        batch = [Report(id_, key) for id_ in ids for key in ("purchase", "renewal")]
        return [record_outcomes(production, chance.sample(batch, len(batch)), now=timezone.now()) for _ in range(4)]

    def registrations() -> list[RegistrationReceipt]:
        shuffled = chance.sample(ids, len(ids))
        parts = (shuffled[n : n + 30] for n in range(0, len(ids), 30))
        return [
            register_conversations(production, [Arrival(id_) for id_ in part], now=timezone.now()) for part in parts
        ]

    results = at_once([reports, reports, reports, reports, registrations, registrations])
    assert sum(receipt.new for receipts in results[:4] for receipt in receipts) <= 300
    assert sum(done.registered for done in results[4] + results[5]) == 100
    assert not Outcome.objects.filter(broken=True).exists()
    assert set(Outcome.objects.values_list("reports", flat=True)) == {16}
    assert read_tallies(production) == recount(production)


def test_one_batch_from_thirty_two_connections_makes_each_outcome_once(production):
    register_conversations(production, [Arrival(f"c{n}") for n in range(50)], now=timezone.now())
    batch = [Report(f"c{n}", "purchase") for n in range(60)]
    receipts = at_once([lambda: record_outcomes(production, batch, now=timezone.now())] * 32)
    assert sum(receipt.new for receipt in receipts) == 50
    assert {(receipt.recorded, len(receipt.unknown)) for receipt in receipts} == {(50, 10)}
    assert set(Outcome.objects.values_list("reports", flat=True)) == {32}
    assert read_tallies(production) == recount(production)


def test_new_keys_in_simultaneous_reports_are_listed_once_without_deadlock(production):
    names = [f"key {n}" for n in range(200)]

    def reports(seed: int) -> None:
        for id_ in range(3):
            batch = [Report(f"c{id_}", name) for name in random.Random(seed).sample(names, len(names))]
            record_outcomes(production, batch, now=timezone.now())

    at_once([lambda seed=seed: reports(seed) for seed in range(12)])
    assert list_search_keys(production) == list_tallied_keys(production) == set(names)
    assert read_tallies(production) == recount(production)


@pytest.mark.parametrize("round_", range(8))
def test_a_report_during_its_registration_leaves_no_broken_join(production, round_):
    ids = [f"c{n}" for n in range(40)]
    acts = [
        lambda: record_outcomes(production, [Report(id_, "purchase") for id_ in ids], now=timezone.now()),
        lambda: register_conversations(production, [Arrival(id_) for id_ in reversed(ids)], now=timezone.now()),
    ]
    at_once(acts if round_ % 2 else acts[::-1])
    assert Outcome.objects.filter(broken=False).count() == 40
    assert Conversation.objects.filter(started_at__isnull=True).count() == 0
    assert read_tallies(production) == recount(production)


def test_of_a_report_and_a_registration_the_second_waits_until_the_first_has_committed(production):
    """Both orders of the race are tested step by step."""
    for first, second in (("register", "record"), ("record", "register")):
        id_ = f"{first} first"
        acts = {
            "register": lambda id_=id_: register_conversations(production, [Arrival(id_)], now=timezone.now()),
            "record": lambda id_=id_: record_outcomes(production, [Report(id_, "purchase")], now=timezone.now()),
        }
        with ThreadPoolExecutor(1) as thread:
            with transaction.atomic():
                acts[first]()
                second_writer = thread.submit(closing(acts[second]))
                assert not waiting_done(second_writer)
            second_writer.result(timeout=20)
        outcome = Outcome.objects.get(conversation__conversation_id=id_)
        assert not outcome.broken
    assert read_tallies(production) == recount(production)


def test_moves_and_undos_during_reports_and_registrations_never_deadlock_and_lose_nothing(production, workspace):
    staging = workspace.workspace.environments.get(name="staging")
    ids = [f"c{n}" for n in range(60)]
    register_conversations(staging, [Arrival(id_) for id_ in ids], now=timezone.now())
    ever = parse_period({"range": "all"}, now=timezone.now())

    def reports(environment: Environment, seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(12):
            batch = [Report(id_, key) for id_ in chance.sample(ids, 40) for key in ("purchase", "renewal")]
            record_outcomes(environment, batch, reported_by=seed, now=timezone.now())

    def moves() -> None:
        for _ in range(8):
            move = move_broken_joins(production, staging, ever, actor="x", now=timezone.now())
            if move and move.pk % 2:
                undo_move(move, actor="x", now=timezone.now())

    def registrations() -> None:
        for id_ in ids[::4]:
            register_conversations(production, [Arrival(id_)], now=timezone.now())

    at_once([
        lambda: reports(production, 1), lambda: reports(production, 2), lambda: reports(staging, 3), moves, moves,
        registrations,
    ])  # fmt: skip
    assert sum(Outcome.objects.values_list("reports", flat=True)) == 3 * 12 * 80
    for environment in (production, staging):
        assert {bucket: n for bucket, n in read_tallies(environment).items() if any(n)} == recount(environment)
        assert read_tallies_by_api_key(environment) == recount_by_api_key(environment)
        assert list_search_keys(environment) == list_tallied_keys(environment) == {"purchase", "renewal"}


def closing(act: Callable[[], object]) -> Callable[[], object]:
    def run() -> object:
        try:
            return act()
        finally:
            connection.close()

    return run


def waiting_done(future) -> bool:
    try:
        future.result(timeout=0.3)
    except TimeoutError:
        return False
    return True


def test_settings_of_the_workspace_do_not_wait_for_a_move_of_broken_joins(production, workspace):
    """With very many joins a move takes minutes, and a secret that leaked has to be replaced at once."""
    staging = workspace.workspace.environments.get(name="staging")
    register_conversations(staging, [Arrival("s1")], now=timezone.now())
    record_outcomes(production, [Report("s1", "purchase")], now=timezone.now())
    ever = parse_period({"range": "all"}, now=timezone.now())

    def change() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1s'")
        create_key(workspace.workspace, ["report"], actor="ann", now=timezone.now())
        rotate_secret(workspace.workspace, actor="ann", now=timezone.now())

    with transaction.atomic():
        assert move_broken_joins(production, staging, ever, actor="x", now=timezone.now())
        at_once([change])
