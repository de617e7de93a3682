"""The lease of a running call is renewed until the call ends, whatever the store does meanwhile."""

import threading
import time

from support.signed_calls import make_protection, sign_call
from support.witness_hub import wait_until

from affidavit._errors import StoreUnavailable
from affidavit._protection.deliveries import Claim
from affidavit._protection.leases import Leases
from affidavit._protection.memory_deliveries import MemoryDeliveries
from affidavit._protection.protection import Call, _RunningCall
from affidavit._protection.unkept_responses import UnkeptResponses

NOW = 1_800_000_000.0
ONE = "1" * 64


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
    unkept = UnkeptResponses(store, now=time.time)
    calls = {name: _RunningCall(store, leases, unkept, claim, time.time) for name, claim in claims.items()}
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
