import os
import sqlite3
import threading

import pytest
from support.calls_at_once import count_passes_at_once
from support.store_servers import (
    RepeatingRedis,
    postgres_schema,
    redis_server,
    sqlite_in,
    unreachable_redis,
)

from affidavit._errors import StoreUnavailable
from affidavit._intents.nonces import KEPT_AFTER_EXPIRY, MemoryNonces, RedisNonces, SqlNonces
from affidavit._stores.pruning_pace import PRUNED_AT_ONCE, PRUNED_EVERY
from affidavit._stores.store_keys import store_key

NOW = 1_800_000_000.0
ROUNDS = int(os.environ.get("AFFIDAVIT_ROUNDS", "5"))


@pytest.fixture(params=["memory", "sqlite", "postgresql", "redis"])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryNonces(several_workers=True)
    elif request.param == "sqlite":
        yield with_table(SqlNonces(sqlite_in(tmp_path)))
    elif request.param == "postgresql":
        with postgres_schema() as connect:
            yield with_table(SqlNonces(connect))
    else:
        with redis_server(tmp_path) as client:
            yield RedisNonces(client)


def with_table(nonces: SqlNonces) -> SqlNonces:
    nonces.create_table()
    nonces.create_table()
    return nonces


def test_a_nonce_burns_once_per_workspace(store):
    assert not store.is_burnt("w", "n")
    assert store.burn("w", "n", NOW + 300, now=NOW)
    assert store.is_burnt("w", "n")
    assert not store.burn("w", "n", NOW + 300, now=NOW)
    assert store.burn("other", "n", NOW + 300, now=NOW)
    assert store.burn("w", "N", NOW + 300, now=NOW)


@pytest.mark.parametrize("nonce", ["x" * 5000, "\u00e9\U0001f600'\"; DROP TABLE", "\udfff", "a\0b", " "])
def test_any_string_can_be_a_nonce(store, nonce):
    assert store.burn("w", nonce, NOW + 300, now=NOW)
    assert not store.burn("w", nonce, NOW + 300, now=NOW)


def test_of_64_threads_exactly_one_burns(store):
    for turn in range(ROUNDS):
        burnt, start = [], threading.Barrier(64)

        def burn(turn=turn, burnt=burnt, start=start):
            start.wait()
            burnt.append(store.burn("w", f"n{turn}", NOW + 300, now=NOW))

        threads = [threading.Thread(target=burn) for _ in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert burnt.count(True) == 1
        assert len(burnt) == 64


@pytest.mark.parametrize("store", ["sqlite", "postgresql", "redis"], indirect=True)
def test_of_64_copies_in_four_processes_exactly_one_burns(store):
    for turn in range(ROUNDS):
        assert count_passes_at_once(lambda turn=turn: store.burn("w", f"n{turn}", NOW + 300, now=NOW)) == 1


@pytest.mark.parametrize("store", ["memory", "sqlite", "postgresql"], indirect=True)
def test_a_nonce_is_kept_five_minutes_past_its_intent_and_then_pruned(store):
    store.burn("w", "n", NOW, now=NOW)
    for number, moment in enumerate([NOW + KEPT_AFTER_EXPIRY, NOW + KEPT_AFTER_EXPIRY + 1]):
        for turn in range(PRUNED_EVERY):
            store.burn("w", f"{number}-{turn}", moment + 999, now=moment)
        assert store.is_burnt("w", "n") is (number == 0)


def test_redis_keeps_a_nonce_five_minutes_past_its_intent(tmp_path):
    with redis_server(tmp_path) as client:
        RedisNonces(client).burn("w", "n", NOW + 100, now=NOW)
        assert 400 <= client.ttl("affidavit:nonce:" + store_key("w", "n")) <= 401


def test_a_command_that_a_redis_client_repeats_is_no_replay(tmp_path):
    with redis_server(tmp_path) as client:
        store = RedisNonces(RepeatingRedis(client))
        assert store.burn("w", "n", NOW + 100, now=NOW)
        assert not store.burn("w", "n", NOW + 100, now=NOW)


def test_pruning_deletes_only_nonces_that_are_no_longer_needed(tmp_path):
    store = with_table(SqlNonces(sqlite_in(tmp_path)))
    for number in range(PRUNED_EVERY - 1):
        store.burn("w", str(number), NOW, now=NOW)
    assert store.prune(now=NOW) == 0
    assert store.prune(now=NOW + 1000) == PRUNED_EVERY - 1 <= PRUNED_AT_ONCE


def test_only_each_250th_burn_prunes(tmp_path, monkeypatch):
    store = with_table(SqlNonces(sqlite_in(tmp_path)))
    prunes = []
    monkeypatch.setattr(store, "prune", lambda *, now: prunes.append(now))
    for number in range(1, 2 * PRUNED_EVERY + 1):
        store.burn("w", str(number), NOW, now=NOW + number)
    assert prunes == [NOW + PRUNED_EVERY, NOW + 2 * PRUNED_EVERY]


def test_the_table_of_nonces_has_an_index_for_pruning(tmp_path):
    connect = sqlite_in(tmp_path)
    with_table(SqlNonces(connect))
    plan = connect().execute("EXPLAIN QUERY PLAN SELECT * FROM affidavit_nonces WHERE keep_until < 0").fetchall()
    assert "USING INDEX" in str(plan)


def test_a_store_writes_its_statements_in_the_given_paramstyle(tmp_path):
    store = SqlNonces(sqlite_in(tmp_path), paramstyle="format")  # SQLite does not understand this style
    with pytest.raises(StoreUnavailable):
        with_table(store).burn("w", "n", NOW, now=NOW)


def test_a_full_memory_store_accepts_no_new_nonce_until_old_ones_expire():
    store = MemoryNonces(limit=2, several_workers=True)
    for nonce in "ab":
        store.burn("w", nonce, NOW, now=NOW)
    with pytest.raises(StoreUnavailable):
        store.burn("w", "c", NOW, now=NOW)
    assert not store.burn("w", "a", NOW, now=NOW)
    assert store.burn("w", "c", NOW + 9, now=NOW + KEPT_AFTER_EXPIRY + 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SqlNonces(lambda: sqlite3.connect("/nonexistent/folder/db.sqlite")),
        lambda: SqlNonces(lambda: sqlite3.connect(":memory:")),
        lambda: RedisNonces(unreachable_redis()),
    ],
    ids=["sqlite", "memory", "redis"],
)
def test_a_store_that_cannot_be_reached_says_so(make):
    store = make()
    for question in (lambda: store.burn("w", "n", NOW, now=NOW), lambda: store.is_burnt("w", "n")):
        with pytest.raises(StoreUnavailable):
            question()


def test_a_client_that_has_to_be_awaited_accepts_no_nonce():
    class AsyncRedis:
        async def eval(self, *_):
            return 1

        async def exists(self, *_):
            return 0

    store = RedisNonces(AsyncRedis())
    for question in (lambda: store.burn("w", "n", NOW, now=NOW), lambda: store.is_burnt("w", "n")):
        with pytest.raises(StoreUnavailable) as caught:
            question()
        assert "the client is asynchronous" in caught.value.describe()


def test_a_connection_that_was_closed_is_opened_anew(tmp_path):
    connect, opened = sqlite_in(tmp_path), []
    store = with_table(SqlNonces(lambda: opened.append(connect()) or opened[-1]))
    opened[-1].close()
    assert store.burn("w", "n", NOW, now=NOW)
    assert len(opened) == 2


def test_a_burnt_nonce_outlives_a_rollback_of_the_request(tmp_path):
    connect = sqlite_in(tmp_path)
    store, request = with_table(SqlNonces(connect)), connect()
    request.execute("CREATE TABLE orders (id INTEGER)")
    request.commit()
    assert store.burn("w", "n", NOW + 9, now=NOW)
    request.execute("INSERT INTO orders VALUES (1)")
    request.rollback()
    assert store.is_burnt("w", "n")
