import os
import threading
import time

import pytest
from support.calls_at_once import count_passes_at_once
from support.signed_calls import make_protection, sign_call
from support.store_servers import RepeatingRedis, postgres_schema, redis_server, sqlite_in
from support.witness_hub import wait_until

from affidavit._errors import StoreUnavailable
from affidavit._intents.intent import read_intent
from affidavit._protection.idempotency import (
    LEASE,
    RETENTION,
    Claim,
    Finished,
    InFlight,
    Leases,
    Mismatch,
    StoredResponse,
    compute_fingerprint,
)
from affidavit._protection.idempotency_stores import RedisDeliveries, SqlDeliveries
from affidavit._protection.memory_deliveries import MemoryDeliveries
from affidavit._protection.protection import Call, _RunningCall

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


def test_a_running_call_renews_its_lease_until_it_ends():
    renewed = []

    class Noting(MemoryDeliveries):
        def renew(self, claim, *, now):
            renewed.append(now)
            return super().renew(claim, now=now)

    earlier_threads = lease_threads()  # threads of earlier tests may still be waiting
    store = Noting(several_workers=True)
    leases = Leases(store, every=0.01)
    for _ in range(2):
        before = len(renewed)
        claim = store.claim("w", str(before), ONE, now=time.time())
        leases.hold(claim)
        time.sleep(0.2)
        leases.release(claim)
        assert len(renewed) > before
        time.sleep(0.1)
        after = len(renewed)
        time.sleep(0.1)
        assert len(renewed) == after
    assert lease_threads() <= earlier_threads


def test_a_lease_is_renewed_by_the_clock_of_the_protection():
    protection = make_protection(now=lambda: time.time() + 3600)
    protection._leases._every = 0.01

    def deliver():
        header = sign_call("POST /x", {}, tool_call_id="call-1")
        return protection.admit(Call(header, "POST", "/x", "", b"", None))

    running_call = deliver()
    time.sleep(0.2)
    assert deliver().status == 409
    running_call.abandon()


def test_a_slow_renewal_does_not_revive_the_lease_of_a_reading_call_that_ends_meanwhile():
    """A call that only reads ends with `expire`: its response is not kept, and a retry runs the call again at once."""
    first, resume = [], threading.Event()

    class Slow(MemoryDeliveries):
        def renew(self, claim, *, now):
            if now > 0 and not first:
                first.append(claim)
                resume.wait(10)
            return super().renew(claim, now=now)

    store = Slow(several_workers=True)
    leases = Leases(store, every=0.01)
    claims = {name: store.claim("w", name, ONE, now=time.time()) for name in "ab"}
    calls = {name: _RunningCall(store, leases, claim, time.time) for name, claim in claims.items()}
    while not first:
        time.sleep(0.01)
    (other,) = [name for name, claim in claims.items() if claim != first[0]]
    calls[other].expire()
    resume.set()
    time.sleep(0.1)
    assert isinstance(store.claim("w", other, ONE, now=time.time()), Claim)
    for call in calls.values():
        call.abandon()


def lease_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "affidavit-leases"}


def test_an_unreachable_store_does_not_stop_renewals():
    class Away(MemoryDeliveries):
        def renew(self, claim, *, now):
            raise StoreUnavailable("away")

    store = Away(several_workers=True)
    leases, claim = Leases(store, every=0.01), store.claim("w", "c", ONE, now=NOW)
    leases.hold(claim)
    time.sleep(0.05)
    assert any(thread.name == "affidavit-leases" for thread in threading.enumerate())
    leases.release(claim)


def test_while_no_thread_can_start_calls_run_and_the_next_claim_tries_again(monkeypatch):
    renewed = []

    class Noting(MemoryDeliveries):
        def renew(self, claim, *, now):
            renewed.append(claim)
            return super().renew(claim, now=now)

    store = Noting(several_workers=True)
    leases = Leases(store, every=0.01)
    claims = [store.claim("w", name, ONE, now=time.time()) for name in "ab"]
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail_to_start)
        leases.hold(claims[0])
    leases.hold(claims[1])
    time.sleep(0.2)
    assert set(renewed) == set(claims)
    for claim in claims:
        leases.release(claim)


def fail_to_start(thread):
    raise RuntimeError("can't start new thread")


def test_an_error_of_the_host_s_own_store_does_not_stop_renewals():
    renewed = []

    class Own(MemoryDeliveries):
        def renew(self, claim, *, now):
            renewed.append(claim)
            raise KeyError(claim)

    store = Own(several_workers=True)
    leases, claim = Leases(store, every=0.01), store.claim("w", "c", ONE, now=NOW)
    leases.hold(claim)
    assert wait_until(lambda: len(renewed) > 1)
    leases.release(claim)


V2 = {
    "v": 2, "toolCallId": "c", "tenantId": "w", "sub": "u", "aud": "a", "operation": "POST /x", "argsHash": "0" * 64,
    "nonce": "n", "issuedAt": 1, "expiresAt": 2,
}  # fmt: skip


@pytest.mark.parametrize(("change", "is_equal"), [
    ({"nonce": "m", "issuedAt": 5, "expiresAt": 6, "aud": "b"}, True),
    ({"sub": "v"}, False), ({"operation": "POST /y"}, False), ({"argsHash": "1" * 64}, False),
])  # fmt: skip
def test_a_fingerprint_is_of_user_operation_and_arguments(change, is_equal):
    assert (
        compute_fingerprint(read_intent({**V2, **change}, 2)) == compute_fingerprint(read_intent(V2, 2))
    ) is is_equal


def test_a_response_survives_its_text_form():
    assert StoredResponse.from_text(RESPONSE.to_text()) == RESPONSE
    assert RESPONSE.to_text().isascii()
