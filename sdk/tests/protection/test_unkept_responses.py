"""A response that the store could not take when its call ended is kept later, so that no retry runs the call again."""

import logging
import os
import threading
import time

import pytest
from support.signed_calls import make_protection, sign_call
from support.witness_hub import wait_until

from affidavit import Admission, Call, MemoryDeliveries, StoredResponse, StoreUnavailable
from affidavit._protection.deliveries import Claim, Finished
from affidavit._protection.unkept_responses import UnkeptResponses

ONE = "1" * 64
RESPONSE = StoredResponse(201, (("content-type", "text/plain"),), b"paid")


class FailingDeliveries(MemoryDeliveries):
    """A store that keeps no response over `largest` bytes: 0 is a store that is away."""

    def __init__(self, largest: int = 0) -> None:
        super().__init__(several_workers=True)
        self.largest = largest
        self.attempts: list[str] = []

    def finish(self, claim, response, *, now):
        self.attempts.append(claim.key)
        if len(response.body) > self.largest:
            raise StoreUnavailable("away")
        return super().finish(claim, response, now=now)


@pytest.fixture
def store():
    return FailingDeliveries()


@pytest.fixture
def make_unkept(store):
    """Make the object under test. At the end of the test its thread ends, because the store is back."""
    made = []

    def make(**options):
        made.append(UnkeptResponses(store, **{"every": 0.01, "now": time.time, **options}))
        return made[-1]

    yield make
    store.largest = 10**9
    assert all(wait_until(lambda unkept=unkept: not unkept.count) for unkept in made)


def claim_call(store, call="c"):
    return store.claim("w", call, ONE, now=time.time())


def deliver(protection):
    header = sign_call("POST /x", {}, tool_call_id="call-1")
    return protection.admit(Call(header, "POST", "/x", "", b"", None))


def test_a_call_that_ended_while_the_store_was_away_does_not_run_again(store, caplog):
    protection = make_protection(deliveries=store)
    protection._unkept._every = 0.01
    with caplog.at_level(logging.WARNING, "affidavit.protection"):
        deliver(protection).finish(201, [("Content-Type", "text/plain")], b"paid")
    assert "tries again" in caplog.text
    assert deliver(protection).status == 409  # in flight
    store.largest = 10**9
    assert wait_until(lambda: deliver(protection).status == 201)
    assert deliver(protection).body == b"paid"


def test_a_response_that_is_too_large_for_a_full_store_becomes_one_that_is_not_kept(store):
    """A Redis at its `maxmemory` and a full disk take small writes longer than large ones."""
    store.largest = 1_000
    protection = make_protection(deliveries=store)
    protection._unkept._every = 0.01
    deliver(protection).finish(200, [], b"x" * 5_000)
    assert wait_until(lambda: b"response-not-kept" in deliver(protection).body)


@pytest.mark.parametrize("failure", [StoreUnavailable("wrong type"), KeyError("of a store of the host's own")])
def test_one_response_that_never_can_be_kept_does_not_prevent_others(store, failure, caplog):
    claims = {name: claim_call(store, name) for name in "ab"}

    class Poisoned:
        def finish(self, claim, response, *, now):
            if claim == claims["a"]:
                raise failure
            return MemoryDeliveries.finish(store, claim, response, now=now)

    unkept = UnkeptResponses(Poisoned(), every=0.01, now=time.time, give_up_after=0.5)
    for claim in claims.values():
        unkept.add(claim, RESPONSE, StoreUnavailable("away"))
    assert wait_until(lambda: claim_call(store, "b") == Finished(RESPONSE))
    assert wait_until(lambda: "may run it again" in caplog.text)


def test_the_log_says_when_a_response_is_given_up(store, make_unkept, caplog):
    unkept = make_unkept(give_up_after=0.05)
    unkept.add(claim_call(store), RESPONSE, StoreUnavailable("away"))
    assert wait_until(lambda: "a retry of a call that has run may run it again: away" in caplog.text)


def test_responses_that_wait_are_bounded_in_number_and_bytes(store, make_unkept, caplog):
    unkept = make_unkept(every=60, limit=2, max_bytes=len(RESPONSE.body) + 30)
    claims = [claim_call(store, name) for name in "abc"]
    for claim in claims:
        unkept.add(claim, RESPONSE, StoreUnavailable("away"))
    assert unkept.count == 2
    assert caplog.text.count("may run it again") == 1
    store.largest = 10**9
    while unkept.try_next():
        pass
    assert claim_call(store, "a") == Finished(RESPONSE)
    assert b"response-not-kept" in claim_call(store, "b").response.body


def test_a_call_that_another_delivery_has_taken_over_is_left_to_it(store, make_unkept, caplog):
    unkept = make_unkept()
    lost = claim_call(store)
    unkept.add(lost, RESPONSE, StoreUnavailable("away"))
    second = store.claim("w", "c", ONE, now=time.time() + 61)
    assert isinstance(second, Claim)
    store.largest = 10**9
    assert wait_until(lambda: "another delivery may have run the call" in caplog.text)


def test_a_child_leaves_the_responses_of_its_parent_to_the_parent(store, make_unkept):
    unkept = make_unkept(every=60)
    unkept.add(claim_call(store), RESPONSE, StoreUnavailable("away"))
    child = os.fork()
    if child == 0:
        unkept.add(Claim("k", "o"), RESPONSE, StoreUnavailable("away"))
        os._exit(unkept.count)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    store.largest = 10**9
    while unkept.try_next():
        pass


def test_while_no_thread_can_start_the_next_response_tries_again(store, make_unkept, monkeypatch):
    unkept = make_unkept()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail_to_start)
        unkept.add(claim_call(store, "a"), RESPONSE, StoreUnavailable("away"))
    unkept.add(claim_call(store, "b"), RESPONSE, StoreUnavailable("away"))
    store.largest = 10**9
    assert wait_until(lambda: claim_call(store, "a") == claim_call(store, "b") == Finished(RESPONSE))


def fail_to_start(thread):
    raise RuntimeError("can't start new thread")


def test_a_call_that_raises_or_only_reads_holds_nothing_back(store):
    class Away(FailingDeliveries):
        def abandon(self, claim):
            raise StoreUnavailable("away")

    protection = make_protection(deliveries=Away())
    admission = deliver(protection)
    assert isinstance(admission, Admission)
    admission.abandon()
    assert protection._unkept.count == 0
