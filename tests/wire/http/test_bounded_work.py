"""Checking a body takes bounded time, whatever it contains (contract §1)."""

from __future__ import annotations

import gzip
import json
import uuid
from unittest import mock

import pytest

from affidavit import InvalidDescriptor, args_hash, from_descriptor, parse_json
from tests.wire.http.test_every_endpoint import BATCHES
from wire.errors import MAX_FAULTS
from wire.http.body import MAX_GZIP_MEMBERS
from wire.http.bounded_lists import BoundedList

pytestmark = pytest.mark.django_db
WITNESS = "/api/witness-reports"
REPORT_ID = "00000000-0000-4000-8000-000000000001"


@pytest.fixture(params=sorted(BATCHES))
def batch(request):
    return request.param, BATCHES[request.param]


def test_items_are_counted_before_any_is_validated(api, batch):
    address, name = batch
    with mock.patch.object(BoundedList, "run_child_validation", side_effect=AssertionError):
        response = api.post(f"/{address}", {name: [{}] * 501, "environment": 17})
    assert (response.status_code, response.json()["code"]) == (400, "batch-too-large")
    assert response.json()["received"] == 501


def test_checking_stops_one_fault_beyond_the_limit(api, batch):
    address, name = batch
    with mock.patch.object(
        BoundedList, "run_child_validation", autospec=True, side_effect=BoundedList.run_child_validation
    ) as check:
        problem = api.post(f"/{address}", {name: [{}] * 500}).json()
    assert (len(problem["errors"]), problem["errorsTruncated"]) == (MAX_FAULTS, True)
    assert problem["detail"].startswith(
        "The body has more than 100 faults, the first 100 of which are listed under errors;"
    )
    assert check.call_count <= MAX_FAULTS + 1


def test_up_to_a_hundred_faults_are_listed(api):
    items = [{"conversationId": "c1", "outcomeKey": "k"}, {}] * 50
    problem = api.post("/api/conversation-outcomes", {"outcomes": items}).json()
    assert len(problem["errors"]) == 100
    assert "errorsTruncated" not in problem
    assert problem["errors"][-1]["pointer"] == "/outcomes/99/outcomeKey"


def test_reading_a_descriptor_stops_one_fault_beyond_the_limit():
    broken = {"type": "object", "properties": {f"p{number}": {} for number in range(5000)}}
    with pytest.raises(InvalidDescriptor) as raised:
        from_descriptor(broken, seen=1)
    assert len(raised.value.faults) == MAX_FAULTS + 1


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"undecided": [0] * 10_000}, "/observations/0/undecided"),
        ({"parameters": {f"p{number}": {"type": "string"} for number in range(10_000)}}, "/observations/0/parameters"),
        ({"path": "/1" * 101}, "/observations/0/path"),
        ({"path": "/" + "orders" * 100_000}, "/observations/0/path"),
        ({"path": "/" + "word" * 20 + "/1" * 90}, "/observations/0/path"),
    ],
    ids=["many-undecided", "many-parameters", "many-segments", "long", "long-when-templated"],
)
def test_an_oversized_observation_is_refused_with_one_fault(api, members, pointer):
    observation = {"method": "GET", "path": "/orders", "status": 200, "count": 1, **members}
    response = api.post(WITNESS, {"reportId": REPORT_ID, "observations": [observation]})
    assert response.status_code == 400
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_a_body_of_too_many_gzip_members_is_refused(api):
    plain = json.dumps({"outcomes": []}).encode()
    padding = gzip.compress(b" ")
    few = padding * (MAX_GZIP_MEMBERS - 1) + gzip.compress(plain)
    assert api.post("/api/conversation-outcomes", few, headers={"Content-Encoding": "gzip"}).status_code == 200
    response = api.post("/api/conversation-outcomes", padding + few, headers={"Content-Encoding": "gzip"})
    assert (response.status_code, response.json()["code"]) == (400, "invalid-encoding")


@pytest.mark.parametrize(
    "observations",
    [[{}] * 501, [{"undecided": [0] * 10_000}], [{"path": {f"n{number}": {} for number in range(10_000)}}]],
    ids=["many-items", "many-undecided", "a-path-of-many-members"],
)
def test_a_refused_report_is_parsed_once(api, observations):
    with (
        mock.patch("wire.http.body.parse_json", side_effect=parse_json) as parse,
        mock.patch("catalog.ingest.quick_report.parse_json", side_effect=AssertionError),
    ):
        response = api.post(WITNESS, {"reportId": REPORT_ID, "observations": observations})
    assert response.status_code == 400
    assert parse.call_count == 1


def test_a_report_with_many_shapes_is_searched_once(api, monkeypatch):
    """The quick reader replaces at most MAX_STAND_INS shapes in the text. With more shapes it parses the whole text."""
    monkeypatch.setattr("catalog.ingest.quick_report.MAX_STAND_INS", 3)
    shapes = [{"type": "object", "properties": {f"n{number}": {"type": "string"}}} for number in range(4)]
    base = {"method": "GET", "path": "/orders", "status": 200, "count": 1}
    for count, is_whole in ((3, False), (4, True)):
        observations = [{**base, "response": shape} for shape in shapes[:count]]
        body = {"reportId": str(uuid.uuid4()), "observations": observations, "more": "x" * 1000}
        with mock.patch("catalog.ingest.quick_report.parse_json", side_effect=parse_json) as parse:
            assert api.post(WITNESS, body).status_code == 202
        assert (b"n0" in parse.call_args.args[0]) is is_whole


def test_arguments_are_parsed_once(api):
    body = {"sub": "user-1", "operation": "GET /orders", "args": {"lines": [{"sku": "a", "price": 0.1}]}}
    with mock.patch("affidavit._intents.args.parse", side_effect=AssertionError):
        response = api.post("/api/intents", body)
    assert response.status_code == 201
    assert response.json()["payload"]["argsHash"] == args_hash(body["args"])
