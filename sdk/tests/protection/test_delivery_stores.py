import os
import threading

import pytest
from support.calls_at_once import count_passes_at_once
from support.store_servers import RepeatingRedis, postgres_schema, redis_server, sqlite_in

from affidavit._errors import StoreUnavailable
from affidavit._protection.deliveries import Claim, Finished, InFlight, Mismatch, StoredResponse
from affidavit._protection.kept_responses import RETENTION
from affidavit._protection.leases import LEASE
from affidavit._protection.memory_deliveries import MemoryDeliveries
from affidavit._protection.redis_deliveries import RedisDeliveries
from affidavit._protection.sql_deliveries import SqlDeliveries

NOW = 1_800_000_000.0
ONE, OTHER = "1" * 64, "2" * 64
RESPONSE = StoredResponse(201, (("content-type", "application/json"), ("x-é", "ü")), b'{"id": 1}\x00\xff')
ROUNDS = int(os.environ.get("AFFIDAVIT_ROUNDS", "5"))


@pytest.fixture(params=["memory", "sqlite", "postgresql", "redis"])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryDeliveries(several_workers=True)
    elif request.param == "sqlite":
        yield with_table(SqlDeliveries(sqlite_in(tmp_path)))
    elif request.param == "postgresql":
        with postgres_schema() as connect:
            yield with_table(SqlDeliveries(connect))
    else:
        with redis_server(tmp_path) as client:
            yield RedisDeliveries(client)


def with_table(deliveries: SqlDeliveries) -> SqlDeliveries:
    deliveries.create_table()
    return deliveries


def claim_call(store, call="call-1", mark=ONE, now=NOW):
    return store.claim("w", call, mark, now=now)


def test_a_retry_gets_the_response_of_the_first_delivery(store):
    claim = claim_call(store)
    assert isinstance(claim, Claim)
    assert store.finish(claim, RESPONSE, now=NOW + 1)
    assert claim_call(store, now=NOW + 2) == Finished(RESPONSE)
    assert claim_call(store, now=NOW + RETENTION - 1) == Finished(RESPONSE)


def test_a_delivery_in_flight_gives_the_time_of_the_next_retry(store):
    claim_call(store)
    assert claim_call(store, now=NOW + 10) == InFlight(retry_after=LEASE - 10)
    assert claim_call(store, now=NOW + LEASE) == InFlight(retry_after=1)


def test_another_call_under_the_id_of_a_running_or_finished_call_is_a_mismatch(store):
    claim = claim_call(store)
    assert claim_call(store, mark=OTHER) == Mismatch()
    store.finish(claim, RESPONSE, now=NOW)
    assert claim_call(store, mark=OTHER) == Mismatch()
    assert isinstance(store.claim("elsewhere", "call-1", OTHER, now=NOW), Claim)


def test_after_a_crash_the_lease_runs_out_and_a_retry_runs_again(store):
    lost = claim_call(store)
    assert claim_call(store, mark=OTHER, now=NOW + LEASE + 1) == Mismatch()
    second = claim_call(store, now=NOW + LEASE + 1)
    assert isinstance(second, Claim)
    assert second != lost
    assert not store.finish(lost, RESPONSE, now=NOW + LEASE + 2)
    assert not store.renew(lost, now=NOW + LEASE + 2)
    store.abandon(lost)
    assert isinstance(claim_call(store, now=NOW + LEASE + 3), InFlight)


def test_a_renewed_lease_has_its_full_length(store):
    claim = claim_call(store)
    assert store.renew(claim, now=NOW + 50)
    assert claim_call(store, now=NOW + 50 + LEASE - 5) == InFlight(retry_after=5)


def test_an_ended_lease_lets_a_retry_run_but_no_other_call(store):
    claim = claim_call(store)
    assert store.renew(claim, now=-LEASE)
    assert claim_call(store, mark=OTHER) == Mismatch()
    assert isinstance(claim_call(store), Claim)


def test_an_abandoned_call_runs_again_at_once(store):
    store.abandon(claim_call(store))
    assert isinstance(claim_call(store), Claim)


def test_a_finished_call_cannot_be_changed(store):
    claim = claim_call(store)
    store.finish(claim, RESPONSE, now=NOW)
    assert not store.finish(claim, StoredResponse(500, (), b""), now=NOW)
    assert not store.renew(claim, now=NOW)
    store.abandon(claim)
    assert claim_call(store) == Finished(RESPONSE)


@pytest.mark.parametrize("store", ["memory", "sqlite", "postgresql"], indirect=True)
def test_after_24_hours_the_id_is_free_again(store):
    store.finish(claim_call(store), RESPONSE, now=NOW)
    assert isinstance(claim_call(store, mark=OTHER, now=NOW + RETENTION + 1), Claim)


def test_redis_forgets_a_response_after_24_hours(tmp_path):
    with redis_server(tmp_path) as client:
        store = RedisDeliveries(client)
        claim = claim_call(store)
        store.finish(claim, RESPONSE, now=NOW)
        assert RETENTION - 5 < client.ttl("affidavit:delivery:" + claim.key) <= RETENTION


@pytest.mark.parametrize("decode", [True, False])
def test_a_redis_client_may_decode_responses_or_not(tmp_path, decode):
    with redis_server(tmp_path) as client:
        path = client.connection_pool.connection_kwargs["path"]
        store = RedisDeliveries(type(client)(unix_socket_path=path, decode_responses=decode))
        store.finish(claim_call(store), RESPONSE, now=NOW)
        assert claim_call(store) == Finished(RESPONSE)


def test_a_client_that_has_to_be_awaited_is_unavailable():
    class AsyncRedis:
        async def eval(self, *_):
            return []

    with pytest.raises(StoreUnavailable) as caught:
        claim_call(RedisDeliveries(AsyncRedis()))
    assert "the client is asynchronous" in caught.value.describe()


def test_a_command_that_a_redis_client_repeats_has_its_effect_once(tmp_path):
    with redis_server(tmp_path) as client:
        store = RedisDeliveries(RepeatingRedis(client))
        claim = claim_call(store)
        assert isinstance(claim, Claim)
        assert isinstance(claim_call(store), InFlight)
        assert store.finish(claim, RESPONSE, now=NOW)
        assert not store.finish(claim, StoredResponse(200, (), b""), now=NOW)
        assert claim_call(store) == Finished(RESPONSE)


def test_pruning_removes_only_expired_rows(tmp_path):
    store = with_table(SqlDeliveries(sqlite_in(tmp_path)))
    store.finish(claim_call(store), RESPONSE, now=NOW)
    assert store.prune(now=NOW + RETENTION - 1) == 0
    assert store.prune(now=NOW + RETENTION + 1) == 1


def test_of_64_threads_exactly_one_runs_the_call(store):
    standings, start = [], threading.Barrier(64)

    def call():
        start.wait()
        standings.append(claim_call(store))

    threads = [threading.Thread(target=call) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(type(standing).__name__ for standing in standings) == ["Claim", *["InFlight"] * 63]


@pytest.mark.parametrize("store", ["sqlite", "postgresql", "redis"], indirect=True)
def test_of_64_copies_in_four_processes_exactly_one_runs_the_call(store):
    for turn in range(ROUNDS):
        assert count_passes_at_once(lambda turn=turn: isinstance(claim_call(store, f"call-{turn}"), Claim)) == 1
