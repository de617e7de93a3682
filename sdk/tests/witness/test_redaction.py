"""A live witness sends no value, and applies the redaction rules of the hub and its own."""

import gc
import json
import logging
from types import FunctionType, ModuleType

import pytest
from support.witness_hub import HUB_AWAY, JSON, KEY, ORDERS_ROUTE, Hub, make_witness, observe_get

from affidavit import Redactor, ReportError
from affidavit._witness.intake import MAX_QUEUED_BYTES


def test_rules_of_the_hub_are_added_to_those_of_the_redactor():
    rules = [
        {"kind": "sensitive", "name": "shoe*"}, {"kind": "drop", "name": "user*Note"}, {"kind": "odd", "name": "id"},
        {"kind": "drop"}, {"kind": "drop", "name": 7}, "x",
    ]  # fmt: skip
    witness = make_witness(hub := Hub(*rules), redactor=Redactor(sensitive=["hat"], drop=["secretPlan"]))
    observe_get(
        witness,
        body={"shoeSize": 1, "hat": 1, "id": 1, "userNote": 1, "user_work_note": {"x": 1}, "secretPlan": 1},
        **ORDERS_ROUTE,
    )
    witness.flush()
    properties = hub.entries[0]["response"]["properties"]
    assert {name: "redacted" in shape for name, shape in properties.items()} == {
        "shoeSize": True,
        "hat": True,
        "id": False,
    }


@pytest.mark.parametrize("fault", [HUB_AWAY, ReportError("No.", code="not-found", status=404), KeyError("x")])
def test_nothing_is_sent_before_the_rules_are_known(fault, caplog):
    witness = make_witness(hub := Hub(rules_fault=fault))
    for number in range(10):
        observe_get(witness, body={"secret": number}, **ORDERS_ROUTE)
    with caplog.at_level(logging.WARNING, "affidavit.witness"):
        assert not witness.flush()
        assert not witness.flush()
    assert (hub.attempts, witness.stats.waiting, len(caplog.records)) == ([], 10, 1)
    assert KEY not in caplog.text
    hub.rules_fault = None
    assert witness.flush()
    assert hub.counts == {("GET", "/orders/{pk}", 200): 10}
    assert hub.entries[0]["response"]["seen"] == 10


def test_nothing_is_sent_after_an_answer_without_rules():
    witness = make_witness(hub := Hub())
    hub.get_json = lambda path, headers: {"detail": "a captive portal"}
    observe_get(witness, body={}, **ORDERS_ROUTE)
    assert not witness.flush()
    assert hub.attempts == []


@pytest.mark.parametrize("rules", [
    [{"kind": "sensitive", "name": f"n{number}"} for number in range(80_000)], [{"kind": "drop", "name": "a*" * 101}],
])  # fmt: skip
def test_more_rules_than_anybody_writes_are_refused_and_nothing_is_sent(rules, caplog):
    witness = make_witness(hub := Hub(*rules))
    observe_get(witness, body={"a": 1}, **ORDERS_ROUTE)
    assert not witness.flush()
    assert hub.attempts == []
    assert "It has over 10,000 rules, or one of over 200 characters" in caplog.text
    hub.rules = ()
    assert witness.flush()


def test_with_rules_switched_off_the_hub_is_not_asked():
    witness = make_witness(hub := Hub(rules_fault=HUB_AWAY), rules=False)
    observe_get(witness, body={}, **ORDERS_ROUTE)
    assert witness.flush()
    assert (hub.rule_requests, len(hub.bodies)) == ([], 1)


def test_memory_is_bounded_while_rules_are_unknown():
    witness = make_witness(hub := Hub(rules_fault=HUB_AWAY))
    body = json.dumps({"text": "x" * 100_000}).encode()
    for _ in range(200):
        observe_get(witness, body=body, **ORDERS_ROUTE)
    witness.flush()
    assert witness._intake._queued_bytes <= MAX_QUEUED_BYTES
    assert witness.stats.bodies_left_out["no room to keep them"] > 100
    hub.rules_fault = None
    assert witness.flush()
    assert hub.counts == {("GET", "/orders/{pk}", 200): 200}


CANARY = "k4n4ry"


def test_reports_and_logs_contain_no_value(caplog):
    card, jwt = "4111111111111111", "eyJhbGciOiJIUzI1NiJ9.eyJrNG40cnkiOjEyMzQ1fQ.c2lnbmF0dXJl"
    witness = make_witness(hub := Hub())
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
        witness.observe(
            "POST", path, 200, query=f"q={CANARY}&{CANARY}%40example.com=1&{card}=2",
            request_body=json.dumps(body).encode(), request_content_type=f"application/json; x={CANARY}",
            response_body=json.dumps([body, CANARY, 17.0625]).encode(), response_content_type=JSON,
        )  # fmt: skip
    observe_get(witness, f"/orders/{CANARY}", f'{{"{CANARY}'.encode(), route="/orders/<pk>")
    with caplog.at_level(logging.DEBUG):
        witness.flush()
        witness.close()
    assert len(hub.entries) >= 5
    output = b"".join(hub.attempts).decode() + caplog.text
    for value in (CANARY, card, jwt[:20], "17.0625", "192.168.17.4", "2026-01-02", "550e8400"):
        assert value not in output


@pytest.mark.parametrize("text", ["%7B%22user%22:%22k4n4ry%22%7D", "Old%20k4n4ry", "old+k4n4ry", "<k4n4ry/>"])
def test_a_text_in_place_of_a_query_is_not_taken_for_a_name(text):
    witness = make_witness(hub := Hub())
    observe_get(witness, query=f"{text}&raw&filter%7Buser.name%7D=k4n4ry&page=1", **ORDERS_ROUTE)
    witness.flush()
    assert hub.entries[0]["query"]["properties"].keys() == {"raw", "filter{user.name}", "page"}
    assert CANARY not in b"".join(hub.bodies).decode()


def test_no_value_of_a_body_is_kept_after_its_inspection():
    def reachable(things):
        visited, queue = set(), [things]
        while queue:
            thing = queue.pop()
            if id(thing) in visited or isinstance(thing, (type, ModuleType, FunctionType)):
                continue
            visited.add(id(thing))
            if isinstance(thing, (str, bytes)):
                yield thing if isinstance(thing, str) else thing.decode("latin-1")
            else:
                queue += gc.get_referents(thing)

    witness = make_witness(Hub(faults=[HUB_AWAY]))
    for number in range(3):
        observe_get(
            witness,
            f"/orders/{CANARY}{number}@example.com",
            {"note": CANARY, f"{CANARY}@example.com": 1},
            query=f"q={CANARY}",
        )
        observe_get(witness, body={"note": CANARY}, **ORDERS_ROUTE)
    assert not witness.flush()
    observe_get(witness, "/orders/7", {"note": CANARY})
    witness._aggregator.inspect_queue()
    texts = list(reachable([witness._intake, witness._aggregator, witness._outbox]))
    assert "note" in texts
    assert not [text for text in texts if CANARY in text]
