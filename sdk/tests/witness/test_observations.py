"""Observations: counts and shapes per operation, status and day, in the form that the hub accepts."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit._json import ABSENT, parse
from affidavit._paths.templates import Template, template
from affidavit._shapes.descriptor_to_evidence import from_descriptor
from affidavit._shapes.evidence import Evidence
from affidavit._shapes.evidence_to_descriptor import describe
from affidavit._shapes.redaction import Redactor
from affidavit._shapes.values_to_evidence import infer
from affidavit._witness.observations import SECONDS_A_DAY, Observations

NOON = 20_000 * SECONDS_A_DAY + SECONDS_A_DAY / 2
ORDER = template("/orders/17")


def entries_of(*calls, **options):
    observations = Observations(**options)
    for method, path, status, more in calls:
        observations.add(method, path, status, **{"at": NOON, **more})
    return list(observations.entries())


def test_one_entry_sums_one_operation_status_and_day():
    [entry] = entries_of(
        ("GET", ORDER, 200, {"at": NOON + 0.9, "response": {"id": 1}}),
        ("GET", template("/orders/18"), 200, {"at": NOON - 60, "response": {"id": 2, "note": None}}),
    )
    assert entry == {
        "method": "GET", "path": "/orders/{orderId}", "status": 200, "count": 2,
        "firstSeenAt": int(NOON) - 60, "lastSeenAt": int(NOON), "parameters": {"orderId": {"type": "integer"}},
        "response": describe(infer([{"id": 1}, {"id": 2, "note": None}]).items),
    }  # fmt: skip


def test_days_statuses_and_methods_are_kept_apart_and_sorted():
    calls = [
        (method, path, status, {"at": seen_at})
        for method, path, status, seen_at in itertools.product(
            ["POST", "GET"], [ORDER, template("/a")], [404, 200], [NOON + SECONDS_A_DAY, NOON]
        )
    ]
    entries = entries_of(*calls)
    assert len(entries) == 16
    keys = [(entry["path"], entry["method"], entry["status"], entry["firstSeenAt"]) for entry in entries]
    assert keys == sorted(keys)
    assert entries == entries_of(*reversed(calls))


def test_absent_parts_are_left_out_and_null_is_a_part():
    [entry] = entries_of(("GET", ORDER, 200, {"request": ABSENT, "response": None}))
    assert "request" not in entry
    assert "query" not in entry
    assert entry["response"]["type"] == "null"


@pytest.mark.parametrize(("status", "shapes"), [(200, True), (302, True), (400, False), (503, False), (101, False)])
def test_query_and_request_shapes_come_from_2xx_and_3xx_only(status, shapes):
    [entry] = entries_of(("POST", ORDER, status, {"query": {"a": ["1"]}, "request": {"b": 1}, "response": {}}))
    assert ("query" in entry, "request" in entry, "response" in entry) == (shapes, shapes, True)


def test_a_query_parameter_is_a_string_and_a_repeated_parameter_is_an_array():
    [entry] = entries_of(("GET", ORDER, 200, {"query": {"page": ["2"], "id": ["1", "2"], "anna@example.com": [""]}}))
    properties = entry["query"]["properties"]
    assert (properties["page"]["type"], properties["id"]["type"]) == ("string", "array")
    assert properties["id"]["items"]["type"] == "string"
    assert entry["query"]["values"]["type"] == "string"
    assert "anna" not in json.dumps(entry)


def test_names_that_the_hub_refuses_as_json_are_left_out_of_a_query():
    [entry] = entries_of(("GET", ORDER, 200, {"query": {"page": ["2"], "a\0b": ["1"], "c\ud800": ["1"]}}))
    assert list(parse(json.dumps(entry))["query"]["properties"]) == ["page"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_parameter_of_two_types_is_a_string_in_any_order(order):
    calls = [("GET", Template("/a/{b}", {"b": kind}), 200, {}) for kind in ("integer", "string", "integer")]
    [entry] = entries_of(*calls[::order])
    assert entry["parameters"] == {"b": {"type": "string"}}


def test_the_redactor_is_applied():
    [entry] = entries_of(("GET", ORDER, 200, {"response": {"a": 1, "b": 1}}), redactor=Redactor(drop=["a"]))
    assert list(entry["response"]["properties"]) == ["b"]


def test_no_value_is_in_an_entry():
    canary = {"plain": "canary-1", "token": "canary-2", "list": ["canary-3"], "7d444840canary4": "canary-5",
              "canary@example.com": {"x": "canary-6"}}  # fmt: skip
    path = template("/orders/canary%40example.com")
    more = {"query": {"q": ["canary"]}, "request": canary, "response": canary}
    entries = entries_of(("POST", path, 200, more))
    assert "canary" not in json.dumps(entries).replace("7d444840canary4", "")


def test_an_entry_that_is_too_large_for_a_body_is_cut_and_says_so():
    wide = {letters(outer) + "x" * 9: {letters(inner) + "y" * 150: 1 for inner in range(100)} for outer in range(90)}
    [entry] = entries_of(("POST", ORDER, 200, {"request": wide, "response": wide}))
    assert len(json.dumps(entry)) < 4 * 1024 * 1024
    assert '"limit"' in json.dumps(entry)
    assert entry["response"]["seen"] == 1


def letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


bodies = st.recursive(
    st.none() | st.integers() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(bodies, min_size=1, max_size=6), st.integers(0, 6))
def test_any_batching_adds_up_to_the_same_evidence(values, cut):
    total = Evidence()
    for batch in (values[:cut], values[cut:]):
        for entry in entries_of(*(("GET", ORDER, 200, {"response": value}) for value in batch)):
            total.add(from_descriptor(entry["response"], seen=entry["count"]))
    assert total == infer(values).items
