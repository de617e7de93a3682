import gc
import gzip
import json
import logging
import os
import subprocess
import sys
import threading
import time
import zlib
from types import FunctionType, ModuleType
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_hub import ScriptedHub, answer, problem
from witness_hub import AWAY, JSON, KEY, Hub, close_all, counted, seen, takes_all, told, until, witness

from affidavit import Redactor, ReportError, Witness
from affidavit._intake import MAX_QUEUED_BYTES, without_data
from affidavit._learner import Learner
from affidavit._pace import SETTLED

AT = 1_767_225_600.5
ORDERS = {"route": "/orders/<int:pk>"}


@pytest.fixture(autouse=True)
def _closed():
    yield
    close_all()


def test_requests_are_told_as_counts_and_shapes_of_their_operation():
    eye = witness(hub := Hub(), environment="staging", reporter="shop/2")
    for number in range(5):
        seen(eye, f"/orders/{number}", {"id": number, "total": 9.5, "email": "a@b.example"}, **ORDERS, query="full=1")
    eye.observe(
        "post", "/orders", 201, route="/orders", request_body=b'{"books":[1,2]}', request_content_type=JSON, at=AT
    )
    assert eye.flush()
    report = json.loads(hub.bodies[0])
    assert (report["environment"], report["reporter"]) == ("staging", "shop/2")
    posted, got = report["observations"]
    assert (posted["method"], posted["path"], posted["status"], posted["count"]) == ("POST", "/orders", 201, 1)
    assert posted["firstSeenAt"] == posted["lastSeenAt"] == int(AT)
    assert posted["request"]["properties"]["books"]["items"] == {"type": "integer", "seen": 2}
    assert got["parameters"] == {"pk": {"type": "integer"}}
    assert got["query"]["properties"] == {"full": {"type": "string", "seen": 5}}
    assert got["response"]["properties"]["email"] == {"type": "string", "redacted": True, "seen": 5}
    assert hub.asked == ["/api/witness-rules?environment=staging"]


def test_without_an_environment_the_rules_are_asked_for_without_one():
    eye = witness(hub := Hub())
    seen(eye, body={}, **ORDERS)
    assert eye.flush()
    assert hub.asked == ["/api/witness-rules"]
    assert "environment" not in json.loads(hub.bodies[0])


def test_an_entry_is_of_one_day_and_a_mad_time_is_now():
    eye = witness(hub := Hub(), now=lambda: 1_800_000_000.0)
    for at in (1_700_000_000, 1_700_086_400, 0, float("nan"), 1e18):
        seen(eye, body={}, at=at, **ORDERS)
    eye.flush()
    assert [(entry["firstSeenAt"], entry["count"]) for entry in hub.entries] == [
        (1_700_000_000, 1), (1_700_086_400, 1), (1_800_000_000, 3),
    ]  # fmt: skip


# Sampling


def test_what_has_settled_is_looked_at_less_and_counted_all_the_same():
    eye = witness(hub := Hub(), clock=lambda: 0.0)
    for number in range(3000):
        seen(eye, body={"id": number}, **ORDERS)
        if number < 10 * SETTLED:
            eye.flush()
    assert eye.flush()
    assert hub.counts == {("GET", "/orders/{pk}", 200): 3000}
    looks = sum(entry["response"]["seen"] for entry in hub.entries if "response" in entry)
    assert SETTLED <= looks < 500
    assert eye.stats.unlooked == 3000 - looks
    assert all(entry.get("response", {"seen": 0})["seen"] <= entry["count"] for entry in hub.entries)


def test_news_brings_every_request_back_under_the_eye():
    eye = witness(hub := Hub(), clock=lambda: 0.0)
    for _ in range(400):
        seen(eye, body={"id": 1}, **ORDERS)
        eye.flush()
    before = eye.stats.unlooked
    for _ in range(64):
        seen(eye, body={"id": 1, "new": True}, **ORDERS)
        eye.flush()
    assert before > 200
    assert eye.stats.unlooked - before < 64
    assert any("new" in entry.get("response", {}).get("properties", {}) for entry in hub.entries)


def test_a_rare_request_is_looked_at_however_settled_its_shape():
    times = iter(range(0, 10**9, 61))
    eye = witness(Hub(), clock=lambda: float(next(times)))
    for _ in range(100):
        seen(eye, body={"id": 1}, **ORDERS)
    eye.flush()
    assert eye.stats.unlooked == 0


# Bodies


@pytest.mark.parametrize(("facts", "reason"), [
    ({"response_content_type": "text/html"}, "not JSON by their type"),
    ({"response_content_type": None}, "not JSON by their type"),
    ({"response_body": b'{"a":'}, "not valid JSON"),
    ({"response_body": b'{"a":1,"a":2}'}, "not valid JSON"),
    ({"response_body": b"[" * 500}, "not valid JSON"),
    ({"response_body": b"1" * 400}, "not valid JSON"),
    ({"response_body": b'"' + b"x" * 2000 + b'"'}, "too large"),
    ({"response_body": gzip.compress(b'"' + b"x" * 2000 + b'"'), "response_encoding": "gzip"}, "too large"),
    ({"response_body": gzip.compress(b'{"a":1}')[:-9], "response_encoding": "gzip"}, "not valid JSON"),
    ({"response_body": b"{}", "response_encoding": "gzip"}, "not valid JSON"),
    ({"response_body": b"{}", "response_encoding": "br"}, "in an encoding other than gzip and deflate"),
])  # fmt: skip
def test_a_body_that_is_not_looked_at_is_told_and_its_request_counted(facts, reason):
    eye = witness(hub := Hub(), max_body=1000)
    seen(eye, **{"body": {"a": 1}, **ORDERS, **facts})
    assert eye.flush()
    (entry,) = hub.entries
    assert (entry["count"], "response" in entry) == (1, False)
    assert eye.stats.bodies_left_out == {reason: 1}


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/hal+json"]
)
@pytest.mark.parametrize(("encoding", "packed"), [
    (None, bytes), ("identity", bytes), ("gzip", gzip.compress), ("X-GZIP ", gzip.compress), ("deflate", zlib.compress)
])  # fmt: skip
def test_json_is_read_in_the_usual_types_and_encodings(content_type, encoding, packed):
    eye = witness(hub := Hub())
    body = packed(b'{"a":1}')
    seen(eye, body=body, response_content_type=content_type, response_encoding=encoding, **ORDERS)
    eye.flush()
    assert "a" in hub.entries[0]["response"]["properties"]


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_an_answer_that_has_no_body_has_no_shape(method, status):
    eye = witness(hub := Hub())
    eye.observe(method, "/a", status, route="/a", response_body=b"{}", response_content_type=JSON)
    eye.flush()
    assert "response" not in hub.entries[0]
    assert eye.stats.bodies_left_out == {}


def test_requests_that_were_refused_teach_no_shape_of_requests():
    eye = witness(hub := Hub())
    eye.observe("POST", "/a", 422, route="/a", query="b=1", request_body=b'{"a":1}', request_content_type=JSON,
                response_body=b'{"fault":"a"}', response_content_type=JSON)  # fmt: skip
    eye.flush()
    assert {"request", "query"} & hub.entries[0].keys() == set()
    assert hub.entries[0]["response"]["properties"].keys() == {"fault"}


# Paths


def test_a_path_without_a_route_is_learned_and_what_is_undecided_waits_for_more():
    eye = witness(hub := Hub())
    seen(eye, "/users/anna", {"login": 1})
    seen(eye, "/users/anna", {"login": 1})
    assert eye.flush()
    assert (hub.bodies, eye.stats.held_back) == ([], 2)
    seen(eye, "/users/berta", {"login": "berta"})
    seen(eye, "/users/carla", {"login": "carla"})
    assert eye.flush()
    assert (hub.counts, eye.stats.held_back) == ({("GET", "/users/{userId}", 200): 4}, 0)
    assert b"anna" not in hub.bodies[0]
    seen(eye, "/users/doris", {"login": "doris"})
    assert eye.flush()
    assert hub.counts == {("GET", "/users/{userId}", 200): 5}


def test_what_is_undecided_is_sent_only_when_told_so_and_never_at_the_end():
    for allowed in (False, True):
        eye = witness(hub := Hub(), send_undecided=allowed)
        seen(eye, "/users/anna", {"a": 1})
        eye.flush()
        eye.close()
        assert [entry.get("undecided") for entry in hub.entries] == ([[1]] if allowed else [])
        assert eye.stats.dropped == (0 if allowed else 1)


def test_the_longest_undecided_make_room_for_what_may_decide_the_rest():
    eye = witness(hub := Hub(), max_operations=6)
    names = [a + b for a in "bcdfg" for b in ("olo", "imi", "unu")]
    for name in names:
        seen(eye, f"/pets/{name}", status=204)
        eye.flush()
    assert (eye.stats.held_back, eye.stats.dropped, hub.bodies) == (3, 12, [])
    assert {path for _, path, _ in eye._intake._unrouted} == {f"/pets/{name}" for name in names[-3:]}


SEGMENTS = st.sampled_from([
    "orders", "v2", "api", "1.29", "17", "-3", "anna", "a@b.example", "550e8400-e29b-41d4-a716-446655440000",
    "order-1042", "2026-01-02", "deadbeef01", "x y", "%41", "é", "{id}", "", "192.168.17.4",
])  # fmt: skip


@given(st.lists(SEGMENTS, min_size=1, max_size=6), st.lists(st.lists(SEGMENTS, min_size=1, max_size=6), max_size=8))
def test_stand_ins_for_data_change_no_template(segments, learned):
    learner = Learner()
    for others in learned:
        learner.learn("GET", "/" + "/".join(others), 200, response={"orders": ["anna"]})
    path = "/" + "/".join(segments)
    held = without_data(path)
    found, expected = learner.template(held), learner.template(quote(path, safe="/%@-._~"))
    assert (found.path, found.undecided, dict(found.parameters)) == (
        expected.path, expected.undecided, dict(expected.parameters),
    )  # fmt: skip
    assert without_data(held) == held
    assert not {"17", "a@b.example", "192.168.17.4", "2026-01-02"} & set(held.split("/"))


def test_ids_without_a_route_are_one_operation_from_the_beginning():
    eye = witness(hub := Hub())
    for number in range(50):
        seen(eye, f"/v2/orders/{number}/lines/7f3a9c1e-5b2d-4c6f-8a90-b1c2d3e4f5a6", {"n": number})
    eye.flush()
    assert hub.counts == {("GET", "/v2/orders/{orderId}/lines/{lineId}", 200): 50}
    assert len(eye._intake._unrouted) == 1


def test_what_a_scanner_asks_for_is_nothing_but_counted():
    eye = witness(hub := Hub())
    for path in ("/wp-login.php", "/.env", "/orders/x/../..", "//", "x", "*", "/a" * 50, "/" + "b" * 3000):
        seen(eye, path, status=404)
    seen(eye, "/orders/17", {"id": 1})
    seen(eye, "/orders/18", {"fault": 1}, status=404)
    eye.observe("G ET", "/orders/1", 200)
    eye.observe("GET", "/orders/1", 101)
    eye.flush()
    assert hub.counts == {("GET", "/orders/{orderId}", 200): 1, ("GET", "/orders/{orderId}", 404): 1}
    assert eye.stats.ignored == 10


def test_a_route_that_says_too_much_is_left_to_the_learner():
    eye = witness(hub := Hub())
    seen(eye, "/orders/17", {"id": 1}, route="/(orders|carts)/([0-9]+)")
    eye.flush()
    assert [entry["path"] for entry in hub.entries] == ["/orders/{orderId}"]


# Rules and redaction


def test_rules_of_the_hub_come_on_top_of_the_redactor_s_own():
    rules = [
        {"kind": "sensitive", "name": "shoe*"}, {"kind": "drop", "name": "user*Note"}, {"kind": "odd", "name": "id"},
        {"kind": "drop"}, {"kind": "drop", "name": 7}, "x",
    ]  # fmt: skip
    eye = witness(hub := Hub(*rules), redactor=Redactor(sensitive=["hat"], drop=["secretPlan"]))
    seen(
        eye,
        body={"shoeSize": 1, "hat": 1, "id": 1, "userNote": 1, "user_work_note": {"x": 1}, "secretPlan": 1},
        **ORDERS,
    )
    eye.flush()
    shown = hub.entries[0]["response"]["properties"]
    assert {name: "redacted" in shape for name, shape in shown.items()} == {"shoeSize": True, "hat": True, "id": False}


@pytest.mark.parametrize("fault", [AWAY, ReportError("No.", code="not-found", status=404), KeyError("x")])
def test_nothing_is_sent_before_the_rules_are_known(fault, caplog):
    eye = witness(hub := Hub(untold=fault))
    for number in range(10):
        seen(eye, body={"secret": number}, **ORDERS)
    with caplog.at_level(logging.WARNING, "affidavit.witness"):
        assert not eye.flush()
        assert not eye.flush()
    assert (hub.tried, eye.stats.waiting, len(caplog.records)) == ([], 10, 1)
    assert KEY not in caplog.text
    hub.untold = None
    assert eye.flush()
    assert hub.counts == {("GET", "/orders/{pk}", 200): 10}
    assert hub.entries[0]["response"]["seen"] == 10


def test_an_answer_that_tells_no_rules_is_no_leave_to_send():
    eye = witness(hub := Hub())
    hub.get_json = lambda path, headers: {"detail": "a captive portal"}
    seen(eye, body={}, **ORDERS)
    assert not eye.flush()
    assert hub.tried == []


def test_without_rules_the_hub_is_not_asked():
    eye = witness(hub := Hub(untold=AWAY), rules=False)
    seen(eye, body={}, **ORDERS)
    assert eye.flush()
    assert (hub.asked, len(hub.bodies)) == ([], 1)


def test_what_is_held_while_rules_are_unknown_is_bounded():
    eye = witness(hub := Hub(untold=AWAY))
    body = json.dumps({"text": "x" * 100_000}).encode()
    for _ in range(200):
        seen(eye, body=body, **ORDERS)
    eye.flush()
    assert eye._intake._queued_bytes <= MAX_QUEUED_BYTES
    assert eye.stats.bodies_left_out["no room to keep them"] > 100
    hub.untold = None
    assert eye.flush()
    assert hub.counts == {("GET", "/orders/{pk}", 200): 200}


CANARY = "k4n4ry"


def test_no_value_is_found_in_what_is_sent(caplog):
    card, jwt = "4111111111111111", "eyJhbGciOiJIUzI1NiJ9.eyJrNG40cnkiOjEyMzQ1fQ.c2lnbmF0dXJl"
    eye = witness(hub := Hub())
    body = {
        "value": CANARY, "deep": [{"x": [f"{CANARY}-1"]}], f"{CANARY}@example.com": 1, card: {"x": 1}, jwt: 1,
        "192.168.17.4": 1, "2026-01-02": 2, "550e8400-e29b-41d4-a716-446655440000": 3,
    }  # fmt: skip
    for path in (
        f"/orders/{CANARY}@example.com",
        f"/files/{card}",
        f"/t/{jwt}",
        "/ip/192.168.17.4",
        f"/users/{CANARY}",
    ):
        eye.observe(
            "POST", path, 200, query=f"q={CANARY}&{CANARY}%40example.com=1&{card}=2",
            request_body=json.dumps(body).encode(), request_content_type=f"application/json; x={CANARY}",
            response_body=json.dumps([body, CANARY, 17.0625]).encode(), response_content_type=JSON,
        )  # fmt: skip
    seen(eye, f"/orders/{CANARY}", f'{{"{CANARY}'.encode(), route="/orders/<pk>")
    with caplog.at_level(logging.DEBUG):
        eye.flush()
        eye.close()
    assert len(hub.entries) >= 5
    sent = b"".join(hub.tried).decode() + caplog.text
    for value in (CANARY, card, jwt[:20], "17.0625", "192.168.17.4", "2026-01-02", "550e8400"):
        assert value not in sent


def test_no_value_of_a_body_is_held_once_it_was_looked_at():
    def reachable(things):
        known, waiting = set(), [things]
        while waiting:
            thing = waiting.pop()
            if id(thing) in known or isinstance(thing, (type, ModuleType, FunctionType)):
                continue
            known.add(id(thing))
            if isinstance(thing, (str, bytes)):
                yield thing if isinstance(thing, str) else thing.decode("latin-1")
            else:
                waiting += gc.get_referents(thing)

    eye = witness(Hub(faults=[AWAY]))
    for number in range(3):
        seen(
            eye,
            f"/orders/{CANARY}{number}@example.com",
            {"note": CANARY, f"{CANARY}@example.com": 1},
            query=f"q={CANARY}",
        )
        seen(eye, body={"note": CANARY}, **ORDERS)
    assert not eye.flush()
    seen(eye, "/orders/7", {"note": CANARY})
    eye._digest.look()
    texts = list(reachable([eye._intake, eye._digest, eye._outbox]))
    assert "note" in texts
    assert not [text for text in texts if CANARY in text]


# Delivery


@pytest.mark.parametrize(
    "fault", [AWAY, ReportError("busy", code="rate-limited", status=429), ReportError("", status=503)]
)
def test_a_redelivery_repeats_id_and_bytes_and_nothing_is_lost(fault):
    eye = witness(hub := Hub(faults=[fault, fault]))
    seen(eye, body={"a": 1}, **ORDERS)
    assert not eye.flush()
    seen(eye, body={"b": 1}, **ORDERS)
    assert not eye.flush()
    assert eye.flush()
    assert hub.tried[0] == hub.tried[1] == hub.tried[2] != hub.tried[3]
    assert len({json.loads(body)["reportId"] for body in hub.bodies}) == 2
    assert hub.counts == {("GET", "/orders/{pk}", 200): 2}


def test_a_redelivery_over_real_http_has_the_same_id_and_bytes():
    steps = [answer(200, {"rules": []}), problem(503, "unavailable", "away"), takes_all]
    with ScriptedHub(*steps) as hub:
        eye = Witness(KEY, base_url=hub.url)
        seen(eye, body={"a": 1}, **ORDERS)
        assert eye.flush()
        eye.close()
        assert [one.method for one in hub.received] == ["GET", "POST", "POST"]
        assert hub.received[1].body == hub.received[2].body
        assert {one.headers["x-service-api-key"] for one in hub.received} == {KEY}


@pytest.mark.parametrize("fault", [ReportError("Gone.", code="unknown-environment", status=400), OSError()])
def test_what_the_hub_refuses_for_good_is_counted_and_logged(fault, caplog):
    eye = witness(hub := Hub(faults=[fault]))
    for _ in range(7):
        seen(eye, body={"a": 1}, **ORDERS)
    with caplog.at_level(logging.WARNING, "affidavit.witness"):
        eye.flush()
    assert (eye.stats.dropped, eye.stats.waiting, hub.bodies) == (7, 0, [])
    assert "7 requests were not reported" in caplog.text
    seen(eye, body={"a": 1}, **ORDERS)
    assert eye.flush()
    assert eye.stats.delivered == 1


def test_many_operations_go_in_reports_of_at_most_500():
    eye = witness(hub := Hub())
    for number in range(1100):
        seen(eye, route=f"/{'abcdefghij'[number % 10]}/{'p' * (number // 10 + 1)}")
    assert eye.flush()
    assert [len(json.loads(body)["observations"]) for body in hub.bodies] == [500, 500, 100]


def test_beyond_its_bounds_it_drops_and_says_so():
    eye = witness(max_operations=5)
    for number in range(20):
        seen(eye, route=f"/{'p' * (number + 1)}", body={"a": 1})
    assert eye.flush()
    stats = eye.stats
    assert (stats.observed, stats.delivered, stats.dropped) == (20, 5, 15)


def test_an_api_of_endless_new_names_is_looked_at_no_further_than_the_bound(monkeypatch):
    monkeypatch.setattr("affidavit._digest.MAX_FACTS", 500)
    eye = witness(hub := Hub())
    for number in range(40):
        body = {f"{'abcdefghij'[digit]}{'x' * number}": {"y": 1} for digit in range(10)}
        seen(eye, body=body, route=f"/{'p' * (number + 1)}")
    assert eye.flush()
    assert sum(hub.counts.values()) == 40
    assert eye._digest._facts <= 500
    assert eye.stats.bodies_left_out["no room to keep them"] >= 10


def test_closing_counts_what_is_left_and_takes_nothing_more(caplog):
    eye = witness(Hub(untold=AWAY))
    for _ in range(3):
        seen(eye, body={}, **ORDERS)
    with caplog.at_level(logging.WARNING, "affidavit.witness"):
        eye.close()
        eye.close()
    seen(eye, body={}, **ORDERS)
    assert (eye.stats.dropped, eye.stats.waiting) == (4, 0)
    assert caplog.text.count("3 requests were not reported") == 1


# Time


def test_news_is_told_soon_and_the_rest_at_the_interval():
    with ScriptedHub(takes_all) as hub:
        eye = Witness(KEY, base_url=hub.url, interval=30)
        seen(eye, body={"a": 1}, **ORDERS)
        assert until(lambda: eye.stats.delivered == 1)
        for _ in range(20):
            seen(eye, body={"a": 1}, **ORDERS)
        assert not until(lambda: eye.stats.delivered > 1, seconds=0.5)
        eye.close()
        assert eye.stats.delivered == 21


def test_what_is_not_new_goes_when_the_interval_is_over():
    with ScriptedHub(takes_all) as hub:
        eye = Witness(KEY, base_url=hub.url, interval=0.1)
        for _ in range(200):
            seen(eye, "/orders/1", {"a": 1})
            time.sleep(0.005)
        assert until(lambda: eye.stats.delivered == 200)
        assert 2 < len(hub.received) < 40
        eye.close()


# The host


def test_whatever_is_given_to_observe_it_does_not_raise():
    class Odd:
        def __getattr__(self, name):
            raise RuntimeError(name)

    def fail(method, path):
        raise RuntimeError("on purpose")

    eye = witness(hub := Hub())
    for odd in (None, 7, b"x", Odd(), [], "\ud800", "\0"):
        eye.observe(odd, odd, odd)
        eye.observe("GET", odd, 200, route="/a")
        eye.observe("GET", "/a", 200, route=odd, query=odd, request_body=odd, request_content_type=odd, at=odd)
        eye.observe("GET", "/b", 200, route="/b", response_body=odd, response_content_type=JSON, response_encoding=odd)
    witness(exempt=fail).observe("GET", "/a", 200)
    seen(eye, body={}, **ORDERS)
    eye.flush()
    assert ("GET", "/orders/{pk}", 200) in hub.counts
    stats = eye.stats
    assert stats.observed == stats.delivered + stats.dropped + stats.ignored + stats.waiting


def test_a_redactor_that_raises_costs_the_shape_and_not_the_count():
    def fail(value):
        raise RuntimeError("on purpose")

    eye = witness(hub := Hub(), redactor=Redactor(replace=fail))
    seen(eye, body={"a": 1}, **ORDERS)
    seen(eye, "/carts/1", body={"a": 1})
    assert eye.flush()
    assert sum(hub.counts.values()) == 2


def test_what_is_exempt_is_not_seen():
    eye = witness(hub := Hub(), exempt=lambda method, path: path.startswith("/admin"))
    seen(eye, "/admin/17", {}, route="/admin/<int:pk>")
    seen(eye, body={}, **ORDERS)
    eye.flush()
    assert (eye.stats.observed, len(hub.entries)) == (1, 1)


def test_many_threads_lose_and_double_nothing():
    eye = witness(hub := Hub())

    def run(name):
        for number in range(300):
            seen(eye, f"/{name}/{number}", {"id": number, name: 1}, route=f"/{name}/<int:pk>")
            seen(eye, f"/plain/{number}", {"id": number})

    threads = [threading.Thread(target=run, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        eye.flush()
    assert eye.flush()
    expected = {("GET", f"/{name}/{{pk}}", 200): 300 for name in "abcdef"}
    assert hub.counts == {**expected, ("GET", "/plain/{plainId}", 200): 1800}


def test_a_hub_that_does_not_answer_never_makes_the_host_wait():
    asked, released = threading.Event(), threading.Event()

    class Silent(Hub):
        def get_json(self, path, headers):
            asked.set()
            released.wait(30)
            raise AWAY

    eye = witness(Silent())
    seen(eye, body={}, **ORDERS)
    assert asked.wait(5)
    before = time.monotonic()
    for _ in range(1000):
        seen(eye, body={"a": 1}, **ORDERS)
    assert time.monotonic() - before < 1
    assert not eye.flush(timeout=0.01)
    eye.close(timeout=0.01)
    assert eye.stats.dropped == 1001
    released.set()
    eye._background._thread.join(5)


SCRIPT = """
import os, sys, time
from affidavit import Witness
eye = Witness(sys.argv[1], base_url=sys.argv[2], interval=3600)
def see(route, times=1):
    for _ in range(times):
        eye.observe("GET", route, 200, route=route, response_body=b'{"a":1}', response_content_type="application/json")
"""


def run(body, url):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT + body, KEY, url],
        timeout=60,
        check=True,
        capture_output=True,
        text=True,
    ).stderr


def test_what_is_left_is_sent_when_the_process_ends():
    with ScriptedHub(takes_all) as hub:
        assert run("see('/a', 3)", hub.url) == ""
        assert counted(told(hub.received)) == {("GET", "/a", 200): 3}


def test_the_end_of_the_process_waits_a_few_seconds_at_most():
    with ScriptedHub(lambda handler: time.sleep(30)) as hub:
        before = time.monotonic()
        assert "not reported" in run("see('/a')", hub.url)
        assert time.monotonic() - before < 15


def test_after_a_fork_parent_and_child_each_tell_their_own():
    forked = """
see('/before', 2)
child = os.fork()
see('/child' if not child else '/parent', 3)
if child: assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    with ScriptedHub(takes_all) as hub:
        run(forked, hub.url)
        assert counted(told(hub.received)) == {
            ("GET", "/before", 200): 2, ("GET", "/child", 200): 3, ("GET", "/parent", 200): 3,
        }  # fmt: skip


def test_a_fork_while_the_lock_is_held_leaves_no_child_stuck():
    eye = witness()
    seen(eye, body={}, **ORDERS)
    with eye._intake._lock, eye._background._changed:
        child = os.fork()
        if not child:
            seen(eye, body={}, **ORDERS)
            os._exit(0 if eye.stats.observed == 1 and eye.flush() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(("key", "url"), [(None, "http://x"), ("pk_x", "http://x"), (KEY, "ftp://x")])
def test_what_can_never_work_is_said_at_once(key, url):
    with pytest.raises(ReportError):
        Witness(key, base_url=url)
