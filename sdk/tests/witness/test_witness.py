"""A live witness counts every request, inspects shapes while they are new, and reads bodies up to a limit."""

import gzip
import json
import time
import zlib

import pytest
from support.scripted_hub import ScriptedHub
from support.witness_hub import (
    HUB_AWAY,
    JSON,
    KEY,
    ORDERS_ROUTE,
    Hub,
    accept_all,
    make_witness,
    observe_get,
    wait_until,
)

from affidavit import Witness
from affidavit._shapes.media_types import reduce_media_type
from affidavit._witness.intake import _MAX_WAITING, find_routed_key
from affidavit._witness.observations import find_media_types
from affidavit._witness.sampling import SETTLED

AT = 1_767_225_600.5


def pack_in_two(data):
    """Return the data as two members of gzip, as a server that flushes in between may write it."""
    return gzip.compress(data[:3]) + gzip.compress(data[3:])


def test_requests_are_reported_as_counts_and_shapes_of_their_operation():
    witness = make_witness(hub := Hub(), environment="staging", reporter="shop/2")
    for number in range(5):
        observe_get(
            witness,
            f"/orders/{number}",
            {"id": number, "total": 9.5, "email": "a@b.example"},
            **ORDERS_ROUTE,
            query="full=1",
        )
    witness.observe(
        "post", "/orders", 201, route="/orders", request_body=b'{"books":[1,2]}', request_content_type=JSON, at=AT
    )
    assert witness.flush()
    report = json.loads(hub.bodies[0])
    assert (report["environment"], report["reporter"]) == ("staging", "shop/2")
    posted, fetched = report["observations"]
    assert (posted["method"], posted["path"], posted["status"], posted["count"]) == ("POST", "/orders", 201, 1)
    assert posted["firstSeenAt"] == posted["lastSeenAt"] == int(AT)
    assert posted["request"]["properties"]["books"]["items"] == {"type": "integer", "seen": 2}
    assert fetched["parameters"] == {"pk": {"type": "integer"}}
    assert fetched["query"]["properties"] == {"full": {"type": "string", "seen": 5}}
    assert fetched["response"]["properties"]["email"] == {"type": "string", "redacted": True, "seen": 5}
    assert hub.rule_requests == ["/api/witness-rules?environment=staging"]


def test_without_an_environment_the_rules_are_asked_for_without_one():
    witness = make_witness(hub := Hub())
    observe_get(witness, body={}, **ORDERS_ROUTE)
    assert witness.flush()
    assert hub.rule_requests == ["/api/witness-rules"]
    assert "environment" not in json.loads(hub.bodies[0])


def test_an_entry_covers_one_day_and_an_impossible_time_is_replaced_by_now():
    witness = make_witness(hub := Hub(), now=lambda: 1_800_000_000.0)
    for moment in (1_700_000_000, 1_700_086_400, 0, float("nan"), 1e18):
        observe_get(witness, body={}, at=moment, **ORDERS_ROUTE)
    witness.flush()
    assert [(entry["firstSeenAt"], entry["count"]) for entry in hub.entries] == [
        (1_700_000_000, 1), (1_700_086_400, 1), (1_800_000_000, 3),
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [60.0, 1_900_000_000.0])
def test_a_clock_that_was_wrong_costs_no_report(wrong):
    clock = [wrong]
    witness = make_witness(hub := Hub(), now=lambda: clock[0])
    observe_get(witness, body={}, **ORDERS_ROUTE)
    clock[0] = 1_800_000_000.0
    observe_get(witness, body={}, **ORDERS_ROUTE)
    assert witness.flush()
    (entry,) = hub.entries
    assert (entry["count"], entry["firstSeenAt"], entry["lastSeenAt"]) == (2, 1_800_000_000, 1_800_000_000)


def test_a_settled_shape_is_inspected_less_often_and_its_requests_are_all_counted():
    witness = make_witness(hub := Hub(), clock=lambda: 0.0)
    for number in range(3000):
        observe_get(witness, body={"id": number}, **ORDERS_ROUTE)
        if number < 10 * SETTLED:
            witness.flush()
    assert witness.flush()
    assert hub.counts == {("GET", "/orders/{pk}", 200): 3000}
    looks = sum(entry["response"]["seen"] for entry in hub.entries if "response" in entry)
    assert SETTLED <= looks < 500
    assert witness.stats.unlooked == 3000 - looks
    assert all(entry.get("response", {"seen": 0})["seen"] <= entry["count"] for entry in hub.entries)


def test_after_news_every_request_is_inspected_again():
    witness = make_witness(hub := Hub(), clock=lambda: 0.0)
    for _ in range(400):
        observe_get(witness, body={"id": 1}, **ORDERS_ROUTE)
        witness.flush()
    before = witness.stats.unlooked
    for _ in range(64):
        observe_get(witness, body={"id": 1, "new": True}, **ORDERS_ROUTE)
        witness.flush()
    assert before > 200
    assert witness.stats.unlooked - before < 64
    assert any("new" in entry.get("response", {}).get("properties", {}) for entry in hub.entries)


def test_a_rare_request_is_inspected_even_if_its_shape_is_settled():
    times = iter(range(0, 10**9, 61))
    witness = make_witness(Hub(), clock=lambda: float(next(times)))
    for _ in range(100):
        observe_get(witness, body={"id": 1}, **ORDERS_ROUTE)
    witness.flush()
    assert witness.stats.unlooked == 0


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
    ({"response_body": pack_in_two(b'"' + b"x" * 2000 + b'"'), "response_encoding": "gzip"}, "too large"),
    ({"response_body": pack_in_two(b'{"a":1}')[:-9], "response_encoding": "gzip"}, "not valid JSON"),
    ({"response_body": zlib.compress(b'"' + b"x" * 2000 + b'"'), "response_encoding": "deflate"}, "too large"),
    ({"response_body": zlib.compress(b'{"a":1}')[:-1], "response_encoding": "deflate"}, "not valid JSON"),
    ({"response_body": b"{}", "response_encoding": "gzip"}, "not valid JSON"),
    ({"response_body": b"{}", "response_encoding": "br"}, "in an encoding other than gzip and deflate"),
])  # fmt: skip
def test_the_reason_for_an_unread_body_is_counted_and_so_is_its_request(facts, reason):
    witness = make_witness(hub := Hub(), max_body=1000)
    observe_get(witness, **{"body": {"a": 1}, **ORDERS_ROUTE, **facts})
    assert witness.flush()
    (entry,) = hub.entries
    assert (entry["count"], "response" in entry) == (1, False)
    assert witness.stats.bodies_left_out == {reason: 1}


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/hal+json"]
)
@pytest.mark.parametrize(("encoding", "packed"), [
    (None, bytes), ("identity", bytes), ("gzip", gzip.compress), ("X-GZIP ", gzip.compress), ("deflate", zlib.compress),
    ("gzip", pack_in_two),
])  # fmt: skip
def test_json_is_read_in_the_usual_media_types_and_encodings(content_type, encoding, packed):
    witness = make_witness(hub := Hub())
    body = packed(b'{"a":1}')
    observe_get(witness, body=body, response_content_type=content_type, response_encoding=encoding, **ORDERS_ROUTE)
    witness.flush()
    assert "a" in hub.entries[0]["response"]["properties"]


def test_a_piece_of_a_body_has_no_shape_and_a_page_of_a_list_has_one():
    witness = make_witness(hub := Hub())
    for path, body in (("/file", b"17"), ("/list", b"[17]")):
        witness.observe("GET", path, 206, route=path, response_body=body, response_content_type=JSON)
    witness.flush()
    assert {entry["path"]: "response" in entry for entry in hub.entries} == {"/file": False, "/list": True}
    assert witness.stats.bodies_left_out == {"not seen whole": 1}


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_an_answer_that_has_no_body_has_no_shape(method, status):
    witness = make_witness(hub := Hub())
    witness.observe(method, "/a", status, route="/a", response_body=b"{}", response_content_type=JSON)
    witness.flush()
    assert "response" not in hub.entries[0]
    assert witness.stats.bodies_left_out == {}


def test_refused_requests_do_not_change_the_shape_of_requests():
    witness = make_witness(hub := Hub())
    witness.observe("POST", "/a", 422, route="/a", query="b=1", request_body=b'{"a":1}', request_content_type=JSON,
                response_body=b'{"fault":"a"}', response_content_type=JSON)  # fmt: skip
    witness.flush()
    assert {"request", "query"} & hub.entries[0].keys() == set()
    assert hub.entries[0]["response"]["properties"].keys() == {"fault"}


def test_new_shapes_are_reported_soon_and_known_shapes_at_the_interval():
    with ScriptedHub(accept_all) as hub:
        witness = Witness(KEY, base_url=hub.url, interval=30)
        observe_get(witness, body={"a": 1}, **ORDERS_ROUTE)
        assert wait_until(lambda: witness.stats.delivered == 1)
        for _ in range(20):
            observe_get(witness, body={"a": 1}, **ORDERS_ROUTE)
        assert not wait_until(lambda: witness.stats.delivered > 1, seconds=0.5)
        witness.close()
        assert witness.stats.delivered == 21


def test_known_shapes_are_reported_at_the_end_of_the_interval():
    with ScriptedHub(accept_all) as hub:
        witness, began = Witness(KEY, base_url=hub.url, interval=0.1), time.monotonic()
        for _ in range(200):
            observe_get(witness, "/orders/1", {"a": 1})
            time.sleep(0.005)
        assert wait_until(lambda: witness.stats.delivered == 200)
        intervals = (time.monotonic() - began) / 0.1
        assert 2 < len(hub.received) < intervals + 10
        witness.close()


def test_a_settled_request_is_counted_before_its_body_is_copied():
    witness = make_witness(hub := Hub())

    def settles(status=200, route="/orders/<int:pk>", content_type=JSON):
        return witness.settles("GET", lambda: "/orders/17", status, route, response_content_type=content_type)

    settled = [settles()]
    for _ in range(60):
        observe_get(witness, body={"id": 17}, **ORDERS_ROUTE)
        witness.flush()
    settled += [settles() for _ in range(3)]
    assert settled == [False, True, False, False]  # an inspection is due, and stays due until a request is inspected
    assert not settles(404)
    assert not settles(route=None)
    assert not settles(content_type="text/csv")
    witness.flush()
    assert hub.counts == {("GET", "/orders/{pk}", 200): 61}
    assert witness.stats.observed == 61


def test_while_rules_are_unknown_few_bodies_per_operation_are_queued_and_all_requests_are_counted():
    witness = make_witness(hub := Hub(rules_fault=HUB_AWAY))
    for number in range(1000):
        observe_get(witness, body={"id": number}, **ORDERS_ROUTE)
    observe_get(witness, "/carts/1", {"items": 1}, route="/carts/<int:pk>")
    assert len(witness._intake._queue) == _MAX_WAITING + 1
    assert witness.settles("GET", lambda: "/orders/17", 200, "/orders/<int:pk>", response_content_type=JSON)
    hub.rules_fault = None
    assert witness.flush()
    assert hub.counts == {("GET", "/orders/{pk}", 200): 1001, ("GET", "/carts/{pk}", 200): 1}
    assert sorted(name for entry in hub.entries for name in entry["response"]["properties"]) == ["id", "items"]
    assert not witness.settles("GET", lambda: "/carts/1", 200, "/carts/<int:pk>", response_content_type=JSON)


@pytest.mark.parametrize(
    ("content_type", "media_type"),
    [("multipart/form-data; boundary={}", "multipart/form-data"), ("x-{}/" + "y" * 8_000, "*/*")],
)
def test_no_cache_keeps_what_clients_write_into_content_types(content_type, media_type):
    caches = find_routed_key, find_media_types, reduce_media_type
    witness, misses = make_witness(hub := Hub()), []
    for number in range(50):
        facts = {"request_content_type": content_type.format(number), "response_content_type": JSON}
        if not witness.settles("POST", lambda: "/o", 200, "/o", **facts):
            witness.observe("POST", "/o", 200, route="/o", request_body=b"-", **facts)
        misses.append([cache.cache_info().misses for cache in caches])
    assert misses[0] == misses[-1]
    assert witness.flush()
    assert {entry["requestMediaType"] for entry in hub.entries} == {media_type}


def test_an_exempt_request_is_settled_and_not_counted():
    witness = make_witness(exempt=lambda method, path: path == "/health")
    assert witness.settles("GET", lambda: "/health", 200, "/health")
    assert witness.stats.observed == 0


@pytest.mark.parametrize(
    "path",
    ["/admin/café:a", "/admin/caf%C3%A9%3Aa", "//admin/caf%c3%a9:a", "/admin//caf%C3%A9:a", "/admin/%FFcaf%C3%A9:a"],
)
def test_a_path_is_exempt_if_it_may_be_routed_as_one_that_is(path):
    """Frameworks decode a path; Flask, for one, routes `//admin` to the view of `/admin`, and Bottle drops a byte."""
    hub = Hub()
    witness = make_witness(hub, exempt=lambda method, path: path.startswith("/admin/café:a"))
    assert witness.settles("GET", lambda: path, 200, "/admin/{name}")
    witness.observe("GET", path, 200, route="/admin/{name}", response_body=b"{}", response_content_type=JSON)
    witness.observe("GET", "//books", 200, route="/books")
    assert witness.flush()
    assert hub.counts == {("GET", "/books", 200): 1}
