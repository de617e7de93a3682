"""A full store in memory forgets responses, then finished calls. It never forgets calls in flight.

It warns once at 80 % of a limit, and once when it forgets the first finished call.
"""

import pytest
from support.signed_calls import encode_json, make_protection, sign_call

from affidavit import Admission, Call, MemoryDeliveries, StoredResponse, StoreUnavailable
from affidavit._protection.deliveries import Claim, Finished, InFlight, Mismatch, NotKept
from affidavit._protection.kept_responses import RETENTION

NOW = 1_800_000_000.0
ONE, OTHER = "1" * 64, "2" * 64
RESPONSE = StoredResponse(201, (), b"x" * 100)


def open_store(**limits):
    return MemoryDeliveries(several_workers=True, **limits)


def claim(store, call, fingerprint=ONE, now=NOW):
    return store.claim("w", call, fingerprint, now=now)


def run(store, call, response=RESPONSE):
    running = claim(store, call)
    assert isinstance(running, Claim), call
    assert store.finish(running, response, now=NOW)


def test_beyond_max_bytes_the_oldest_responses_are_forgotten_and_nothing_runs_twice():
    store = open_store(max_bytes=250)
    for number in range(10):
        run(store, f"call-{number}")
    assert [claim(store, f"call-{number}") for number in range(10)] == [NotKept()] * 8 + [Finished(RESPONSE)] * 2
    assert claim(store, "call-0", OTHER) == Mismatch()


def test_a_response_over_max_bytes_is_not_kept_and_displaces_no_other():
    store = open_store(max_bytes=250)
    run(store, "small")
    run(store, "large", StoredResponse(200, (("x-header", "y" * 200),), b"x" * 100))
    run(store, "after")
    assert claim(store, "large") == NotKept()
    assert claim(store, "after") == Finished(RESPONSE)


def test_beyond_the_limit_the_oldest_finished_calls_are_forgotten():
    store = open_store(limit=3)
    claim(store, "running")
    for number in range(5):
        run(store, f"call-{number}")
    assert isinstance(claim(store, "running"), InFlight)
    assert claim(store, "call-4") == Finished(RESPONSE)
    assert claim(store, "call-3") == Finished(RESPONSE)
    assert isinstance(claim(store, "call-2"), Claim)


def test_only_calls_in_flight_keep_a_store_full():
    store = open_store(limit=2)
    first = claim(store, "call-0")
    claim(store, "call-1")
    with pytest.raises(StoreUnavailable, match="2 calls are in flight"):
        claim(store, "call-2")
    store.finish(first, RESPONSE, now=NOW)
    assert isinstance(claim(store, "call-2"), Claim)


def test_expired_calls_are_removed_first():
    store = open_store(limit=2, max_bytes=150)
    run(store, "old")
    later = NOW + RETENTION + 1
    running = claim(store, "new", now=later)
    store.finish(running, RESPONSE, now=later)
    assert claim(store, "new", now=later) == Finished(RESPONSE)
    assert isinstance(claim(store, "old", now=later), Claim)


@pytest.mark.parametrize(("limits", "calls"), [({"limit": 10}, 8), ({"max_bytes": 1000}, 8)])
def test_the_store_warns_once_at_80_percent_and_once_when_it_forgets_calls(caplog, limits, calls):
    store = open_store(**limits)
    for number in range(calls - 1):
        run(store, f"call-{number}")
    assert not caplog.records
    for number in range(calls - 1, 100):
        run(store, f"call-{number}")
    warnings = [record.getMessage() for record in caplog.records]
    assert sum("80 % full" in warning for warning in warnings) == 1
    assert sum("a retry of one runs again" in warning for warning in warnings) == ("limit" in limits)


def call(protection, method, tool_call_id, answer=b"{}"):
    """Deliver a call; return the admission, or the response that is sent in place of the view's."""
    body = encode_json({"a": 1}) if method == "POST" else b""
    header = sign_call(f"{method} /x", {"a": 1} if body else {}, tool_call_id=tool_call_id)
    admitted = protection.admit(Call(header, method, "/x", "", body, "application/json" if body else None))
    if isinstance(admitted, Admission):
        admitted.finish(200, [("content-type", "application/json")], answer)
    return admitted


def test_the_quick_start_protection_still_accepts_calls_after_a_hundred_responses_of_a_megabyte():
    """Its store has the default limits, as in the first example of docs/sdk.md."""
    protection, megabyte = make_protection(deliveries=open_store()), b"x" * 1024 * 1024
    for number in range(100):
        assert isinstance(call(protection, "POST", f"call-{number}", megabyte), Admission)
    early, late = call(protection, "POST", "call-0"), call(protection, "POST", "call-99")
    assert (early.status, b"response-not-kept" in early.body) == (409, True)
    assert (late.status, late.body) == (200, megabyte)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_a_call_that_only_reads_keeps_no_response_and_a_retry_runs(method):
    store = open_store(max_bytes=0)
    protection = make_protection(deliveries=store)
    for _ in range(3):
        assert isinstance(call(protection, method, "c"), Admission)
    assert store._bytes == 0
    assert call(protection, "POST", "c").status == 422
