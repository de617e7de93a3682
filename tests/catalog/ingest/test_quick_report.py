"""The quick reader accepts only reports that the form (WitnessReportForm) accepts, and returns the same sums."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.operations import DailySums
from catalog.ingest import quick_report
from catalog.ingest.observations import render_sums
from catalog.ingest.quick_report import MAX_SHAPE_BYTES, read_report
from catalog.ingest.serializers import WitnessReportForm
from tests.catalog.json_values import VALUES as JSON_VALUES
from tests.catalog.reports import observation, report
from wire.http.body import parse_body
from wire.http.problems import Problem

ROOT = Path(__file__).resolve().parents[3]
NOW = timezone.now()
SECONDS = int(NOW.timestamp())
BOOK = {"id": 1, "title": "text", "tags": ["text"], "author": {"name": "text", "born": None}}
HOSTILE_TEXTS = [
    b'"seen":1,"seen":1', b'{"#":0}', b'{"#": 0}', b"\\ud800", b"\\u0000", b"\xff", b"\xef\xbb\xbf", b"NaN", b"1e999",
    b"Infinity", b"[", b"]", b"{", b"}", b'"', b"\\", b",", b":", b" ", b"\n", b"null", b"true", b"[]", b"{}", b"2.0",
    b"-1", b"9007199254740993", b'"type":"string",', b'"x":', b'"response":', b'"query":{"type":"string","seen":1},',
    b"[" * 130, b'{"a":' * 60, b"get", b"/", b"\\u0073", b"1" * 400,
]  # fmt: skip


def read_by_form(body: bytes) -> dict[str, Any] | None:
    """Return the result of the strict parser and the form for a body; None if they refuse it."""
    try:
        form = WitnessReportForm(data=parse_body(body))
    except Problem:
        return None
    if not form.is_valid():
        return None
    members = form.validated_data
    return {"reporter": "", **members, "sums": render_sums(members["observations"], received_at=NOW)}


def normalize(members: dict[str, Any]) -> dict[str, Any]:
    """Return the members, their observations without shapes, and the sums in a form that ignores batching."""
    return {
        **members,
        "observations": [
            dataclasses.replace(observation, shapes={}, undecided=tuple(observation.undecided))
            for observation in members["observations"]
        ],
        "sums": json.dumps(DailySums.from_state(json.loads(members["sums"])).to_state()),
    }


def compare(body: bytes) -> dict[str, Any] | None:
    """Return the result of the quick reader, after comparing it with the result of the form."""
    quick = read_report(body, received_at=NOW)
    if quick is not None:
        by_form = read_by_form(body)
        assert by_form is not None, body
        assert normalize(quick) == normalize(by_form)
    return quick


def dump(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def build_report() -> dict[str, Any]:
    return report(
        observation("POST", "/books", 201, 3, request=BOOK, response=BOOK, query={"q": "x"}, undecided=[0]),
        observation(
            "GET", "/books/{bookId}", 200, 2, response=[BOOK], firstSeenAt=SECONDS - 90_000, lastSeenAt=SECONDS,
            parameters={"bookId": {"type": "integer"}}, responseMediaType="application/json",
        ),
        observation("GET", "/books/{id}", 404, 1, request=BOOK, response={"error": "text"}, lastSeenAt=SECONDS * 1000),
        observation("GET", "/books/1774", 200, 1, response=BOOK, requestMediaType="text/csv; header=x"),
        environment="staging",
        reporter="web-1",
    )  # fmt: skip


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_report_of_a_witness_is_read_quickly_and_gives_the_same_sums(indent, ascii_only):
    document = build_report()
    document["observations"].append(observation(response={"naïve ❄ \U0001f600": 1, 'quo"days":[0,0]te': 2, "days": 3}))
    for _ in range(2):  # the second time the descriptors are in the cache
        assert compare(json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()) is not None


def test_a_descriptor_without_a_count_takes_the_count_of_its_observation_each_time():
    for count in (1, 2, 1):
        sent = {**observation(count=count), "response": {"type": "object", "properties": {"a": {"type": "string"}}}}
        assert compare(dump(report(sent))) is not None


@pytest.mark.parametrize("counts", [(5, 1), (1, 5), (5, 1, 5)])
def test_equal_descriptors_without_a_count_take_the_count_of_their_own_observation(counts):
    shape = {"type": "object", "properties": {"a": {"type": "string"}}}
    sent = [observation(path=f"/books/{'abc'[n]}", count=count) for n, count in enumerate(counts)]
    assert compare(dump(report(*[{**entry, "response": shape} for entry in sent]))) is not None


def test_a_descriptor_with_its_own_count_is_cached_whatever_the_count_of_its_observation():
    for count in (7, 8, 9):
        misses = quick_report._remember_shape.cache_info().misses
        shape = {"type": "object", "seen": 7, "values": {"type": "string", "seen": 7}}
        assert compare(dump(report({**observation(count=count), "response": shape}))) is not None
    assert quick_report._remember_shape.cache_info().misses == misses


def test_a_descriptor_with_a_count_larger_than_its_observation_is_left_to_the_form():
    for count, is_read in ((3, True), (2, False), (3, True)):
        sent = {**observation(count=count), "response": {"type": "string", "seen": 3}}
        assert (compare(dump(report(sent))) is not None) is is_read


def test_a_descriptor_whose_text_occurs_inside_another_is_read():
    inner = {"type": "string", "seen": 1}
    outer = {"type": "object", "seen": 1, "properties": {"a": inner}}
    sent = {**observation(), "query": inner, "response": outer}
    assert compare(dump(report(sent))) is not None


def test_a_large_descriptor_is_read_quickly_without_being_cached():
    response = {f"name{'x' * n}": 1 for n in range(MAX_SHAPE_BYTES // 100)}
    assert compare(dump(report(observation(response=response)))) is not None


def test_a_sent_placeholder_is_no_descriptor():
    """Before the quick reader parses a body, it replaces each descriptor by a placeholder such as {"#": 0}."""
    known_body = dump(report(observation(response=BOOK)))
    assert compare(known_body) is not None
    for stand_in in (b'{"#":0}', b'{"#": 0}', b'{"\\u0023": 0}'):
        sent = b'{"response":' + stand_in + b"," + dump(observation())[1:]
        assert compare(dump(report("X")).replace(b'"X"', sent)) is None
        two = b'{"query":{"type":"string","seen":1},"response":' + stand_in + b"," + dump(observation())[1:]
        assert compare(dump(report("X")).replace(b'"X"', two)) is None


@pytest.mark.parametrize("name", ["response", "respons\\u0065"])
def test_two_descriptors_of_the_same_name_are_refused(name):
    sent = dump(report(observation(response=BOOK)))
    again = sent.replace(b'"response"', b'"' + name.encode() + b'": {"type":"string","seen":1}, "response"')
    assert compare(again) is None


def test_a_descriptor_within_a_string_is_refused():
    descriptor = dump({"type": "string", "seen": 1})
    sent = dump(report({**observation(), "query": {"type": "string", "seen": 1}}, reporter="MARK"))
    assert compare(sent.replace(b"MARK", descriptor)) is None
    assert compare(sent.replace(b"MARK", descriptor.replace(b'"', b'\\"'))) is not None


def test_the_depth_limit_applies_to_the_whole_body():
    descriptor = dump({"type": "string", "seen": 1, "x": json.loads("[" * 62 + "]" * 62)})
    for depth in range(55, 135):
        sent = dump({**report(observation()), "x": "MARK"}).replace(b'"MARK"', b"[" * depth + descriptor + b"]" * depth)
        compare(sent.replace(b'"status"', b'"response":' + descriptor + b',"status"'))


@pytest.mark.parametrize("digits", [17, 400])
def test_a_time_that_no_float_can_hold_is_refused(digits):
    body = dump(report(observation(lastSeenAt=1))).replace(b'"lastSeenAt": 1', b'"lastSeenAt": ' + b"1" * digits)
    assert b"1" * digits in body
    assert compare(body) is None


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_mutation_of_a_body_is_accepted_that_the_form_refuses(data):
    body = dump(build_report())
    compare(body)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(body)))
        end = min(len(body), start + data.draw(st.sampled_from([0, 0, 1, 2, 10])))
        body = body[:start] + data.draw(st.sampled_from(HOSTILE_TEXTS) | st.binary(max_size=2)) + body[end:]
    compare(body)


MEMBERS = (
    "method", "path", "status", "count", "firstSeenAt", "lastSeenAt", "parameters", "undecided", "query", "request",
     "response", "requestMediaType", "responseMediaType", "other",
)  # fmt: skip
VALUES = (
    0, 1, 2, 2.0, 99, 100, 599, 600, 2**53, 2**53 + 1, 2**70, True, None, "", "GET", "get", "GET\n", "/a/{b}", "/a\n",
     "/a b", "/{a}/{a}", "a/b", "text/csv", "text/csv\n", "text", " /", [0], [1], [0, 0], [5], ["0"], {}, SECONDS,
     SECONDS * 1000, SECONDS + 90_000, 1e300, -1, {"bookId": {"type": "string"}}, {"bookId": {"type": "date"}},
     {"a": {"type": "string"}}, {"bookId": {"type": "string", "x": 1}}, {"type": "string"},
     {"type": "string", "seen": 2},
     {"type": "object", "seen": 1, "properties": {"a": {"type": "string", "seen": 2}}}, "x" * 201,
    "x/" + "y" * 1000,
    "{7c9e6679-7425-40de-944b-e07fc1f90ae7}", "0" * 32, "7C9E6679-7425-40DE-944B-E07FC1F90AE7", "\x7f",
)  # fmt: skip


ANY_VALUE = JSON_VALUES | st.sampled_from(VALUES)


@pytest.mark.parametrize("member", MEMBERS)
def test_no_value_of_a_member_is_accepted_that_the_form_refuses(member):
    for index, value in itertools.product((0, 1), VALUES):
        document = build_report()
        document["observations"][index][member] = value
        compare(dump(document))


@pytest.mark.parametrize("member", ["environment", "reportId", "reporter", "observations", "other"])
def test_no_value_of_a_member_of_the_report_is_accepted_that_the_form_refuses(member):
    for value in VALUES:
        compare(dump({**build_report(), member: value}))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(MEMBERS), ANY_VALUE), min_size=1, max_size=3))
def test_no_member_is_accepted_that_the_form_refuses(changes):
    document = copy.deepcopy(build_report())
    for index, member, value in changes:
        document["observations"][index][member] = value
    compare(dump(document))


@settings(max_examples=200, deadline=None)
@given(JSON_VALUES, JSON_VALUES)
def test_any_shape_gives_the_same_sums(request, response):
    assert compare(dump(report(observation(request=request, response=response)))) is not None


def test_an_unusual_body_is_left_to_the_form():
    for body in (b"", b"[]", b"{}", b"null", b'{"observations":[]}', b"\xff", b'{"observations":[1]}', b"[" * 100_000):
        assert compare(body) is None
    assert compare(dump(report(*[observation()] * 501))) is None


@pytest.mark.parametrize(
    "observations",
    [
        b",".join([b"{}"] * 100_000),
        b'{"undecided":[' + b",".join([b"0"] * 100_000) + b"]}",
        b'{"path":{' + b",".join(b'"n%d":{}' % number for number in range(100_000)) + b"}}",
        dump({**observation(), "path": "/orders?page=1", "more": [0] * 100_000}),
    ],
    ids=["many-observations", "many-undecided", "a-path-of-many-members", "a-wrong-path"],
)
def test_a_body_that_the_form_refuses_is_not_parsed_twice(observations):
    body = b'{"reportId":"0b8f5f0e-4c55-4d6b-9f0a-6f1a40b7d9e2","observations":[' + observations + b"]}"
    with (
        mock.patch.object(quick_report, "parse_json", side_effect=AssertionError),
        mock.patch.object(quick_report, "_list_descriptors", side_effect=AssertionError),
    ):
        assert read_report(body, received_at=NOW) is None


FIRST_USE = """
import sys, django
django.setup()
from django.utils import timezone
from catalog.ingest import quick_report
compilations = []
sys.setprofile(lambda frame, event, _: event == "call" and compilations.append(frame.f_code.co_name))
body = b'{"reportId": "0b8f5f0e-4c55-4d6b-9f0a-6f1a40b7d9e2", "observations": ' \
    b'[{"method": "GET", "path": "/a", "status": 200, "count": 1}]}'
report = quick_report.read_report(body, received_at=timezone.now())
sys.setprofile(None)
assert report is not None
assert "get_class_annotations" not in compilations, "two threads could compile it at once, which is a crash"
"""


def test_the_compiled_form_is_compiled_before_several_threads_use_it():
    """msgspec compiles the quick reader's own form of a report when that form is first used."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "hub.settings"}
    process = subprocess.run(
        [sys.executable, "-c", FIRST_USE], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
