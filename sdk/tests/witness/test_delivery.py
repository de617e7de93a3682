"""Reports of a live witness: each delivered once, or counted as lost, within bounds."""

import json
import logging

import pytest
from support.scripted_hub import ScriptedHub, answer, problem
from support.witness_hub import HUB_AWAY, KEY, ORDERS_ROUTE, Hub, accept_all, make_witness, observe_get

from affidavit import ReportError, Witness


@pytest.mark.parametrize(
    "fault", [HUB_AWAY, ReportError("busy", code="rate-limited", status=429), ReportError("", status=503)]
)
def test_a_redelivery_repeats_id_and_bytes_and_nothing_is_lost(fault):
    witness = make_witness(hub := Hub(faults=[fault, fault]))
    observe_get(witness, body={"a": 1}, **ORDERS_ROUTE)
    assert not witness.flush()
    observe_get(witness, body={"b": 1}, **ORDERS_ROUTE)
    assert not witness.flush()
    assert witness.flush()
    assert hub.attempts[0] == hub.attempts[1] == hub.attempts[2] != hub.attempts[3]
    assert len({json.loads(body)["reportId"] for body in hub.bodies}) == 2
    assert hub.counts == {("GET", "/orders/{pk}", 200): 2}


def test_a_redelivery_over_real_http_has_the_same_id_and_bytes():
    steps = [answer(200, {"rules": []}), problem(503, "unavailable", "away"), accept_all]
    with ScriptedHub(*steps) as hub:
        witness = Witness(KEY, base_url=hub.url)
        observe_get(witness, body={"a": 1}, **ORDERS_ROUTE)
        assert witness.flush()
        witness.close()
        assert [request.method for request in hub.received] == ["GET", "POST", "POST"]
        assert hub.received[1].body == hub.received[2].body
        assert {request.headers["x-service-api-key"] for request in hub.received} == {KEY}


@pytest.mark.parametrize("fault", [ReportError("Gone.", code="unknown-environment", status=400), OSError()])
def test_a_report_that_is_refused_for_good_is_counted_and_logged(fault, caplog):
    witness = make_witness(hub := Hub(faults=[fault]))
    for _ in range(7):
        observe_get(witness, body={"a": 1}, **ORDERS_ROUTE)
    with caplog.at_level(logging.WARNING, "affidavit.witness"):
        witness.flush()
    assert (witness.stats.dropped, witness.stats.waiting, hub.bodies) == (7, 0, [])
    assert "7 requests were not reported" in caplog.text
    observe_get(witness, body={"a": 1}, **ORDERS_ROUTE)
    assert witness.flush()
    assert witness.stats.delivered == 1


def test_many_operations_go_in_reports_of_at_most_500():
    witness = make_witness(hub := Hub(), clock=lambda: 0.0)  # no report is due before the flush
    for number in range(1100):
        observe_get(witness, route=f"/{'abcdefghij'[number % 10]}/{'p' * (number // 10 + 1)}")
    assert witness.flush()
    assert [len(json.loads(body)["observations"]) for body in hub.bodies] == [500, 500, 100]


def test_operations_beyond_the_limit_are_dropped_and_counted():
    witness = make_witness(max_operations=5)
    for number in range(20):
        observe_get(witness, route=f"/{'p' * (number + 1)}", body={"a": 1})
    assert witness.flush()
    stats = witness.stats
    assert (stats.observed, stats.delivered, stats.dropped) == (20, 5, 15)


def test_an_api_of_endless_new_names_is_inspected_up_to_the_limit(monkeypatch):
    monkeypatch.setattr("affidavit._witness.aggregator._MAX_FACTS", 500)
    witness = make_witness(hub := Hub())
    for number in range(40):
        body = {f"{'abcdefghij'[digit]}{'x' * number}": {"y": 1} for digit in range(10)}
        observe_get(witness, body=body, route=f"/{'p' * (number + 1)}")
    assert witness.flush()
    assert sum(hub.counts.values()) == 40
    assert witness._aggregator._facts <= 500
    assert witness.stats.bodies_left_out["no room to keep them"] >= 10


def test_closing_counts_the_rest_and_accepts_nothing_more(caplog):
    witness = make_witness(Hub(rules_fault=HUB_AWAY))
    for _ in range(3):
        observe_get(witness, body={}, **ORDERS_ROUTE)
    with caplog.at_level(logging.WARNING, "affidavit.witness"):
        witness.close()
        witness.close()
    observe_get(witness, body={}, **ORDERS_ROUTE)
    assert (witness.stats.dropped, witness.stats.waiting) == (4, 0)
    assert caplog.text.count("3 requests were not reported") == 1
