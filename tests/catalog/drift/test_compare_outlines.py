"""Changes between two outlines, and which side each breaks: every change is reported exactly once (contract §4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from affidavit import Evidence, describe, infer, merge
from catalog.change_kinds import BREAKS_FOR, CHANGE_KINDS
from catalog.downloads.schemas.json_schema import build_schema
from catalog.drift.compare_outlines import Change, compare_outlines
from catalog.evidence.tree import walk_nodes

NAMES = st.sampled_from(["id", "name", "items", "", "a/b~c"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)
SEEN = st.lists(VALUES, min_size=1, max_size=4)


def sum_of(*values: Any) -> Evidence:
    evidence = Evidence()
    for value in values:
        evidence.add(infer(value))
    return evidence


def outline_of(part: str = "200", evidence: Evidence | None = None, **members: Any) -> dict[str, Any]:
    shapes: dict[str, Any] = {"parameters": {}, "query": None, "request": None, "responses": {}}
    if evidence is not None:
        target = shapes["responses"] if part.isdigit() else shapes
        target[part] = describe(evidence, counts=False)
    return {**shapes, **members}


def compare_values(before: list[Any], after: list[Any], part: str = "200") -> list[Change]:
    return compare_outlines(outline_of(part, sum_of(*before)), outline_of(part, sum_of(*after)))


def list_changes(before: list[Any], after: list[Any], part: str = "200") -> list[tuple[str, str, str]]:
    return [(change.pointer, change.kind, change.breaks) for change in compare_values(before, after, part)]


@given(SEEN, SEEN, st.sampled_from(["200", "request", "query"]))
@settings(max_examples=200)
def test_there_are_changes_exactly_when_the_outlines_differ(before, after, part):
    outline_before, outline_after = outline_of(part, sum_of(*before)), outline_of(part, sum_of(*after))
    assert bool(compare_outlines(outline_before, outline_after)) == (outline_before != outline_after)


@given(SEEN, SEEN)
@settings(max_examples=200)
def test_more_evidence_removes_nothing_and_no_change_is_reported_twice(before, more):
    """A node may have several changes, but only one of each kind."""
    old = sum_of(*before)
    total = merge(old, sum_of(*more))
    changes = compare_outlines(outline_of("200", old), outline_of("200", total))
    assert not {change.kind for change in changes} & {"gone", "not-null"}
    assert len({(change.pointer, change.kind) for change in changes}) == len(changes)
    pointers = {pointer for pointer, _ in walk_nodes(total, observations=1)}
    assert {change.pointer for change in changes if change.kind != "known"} <= pointers


@given(SEEN, SEEN)
@settings(max_examples=200)
def test_every_answer_that_is_invalid_under_the_earlier_schema_is_a_breaking_change(before, after):
    """There is one exception: the first real value after only nulls, or after no value at all, breaks nobody."""
    old, new = sum_of(*before), sum_of(*before, *after)
    schema = Draft202012Validator(build_schema(describe(old, counts=False)))
    failing = [error for value in after for error in schema.iter_errors(value) if error.validator_value != "null"]
    changes = compare_outlines(outline_of("200", old), outline_of("200", new))
    assert not failing or any(change.breaks for change in changes)


@given(SEEN, SEEN, st.sampled_from(["200", "request"]))
def test_every_change_has_words_and_breaks_one_of_the_known_sides_or_nobody(before, after, part):
    for change in compare_values(before, after, part):
        assert change.words == CHANGE_KINDS[change.kind]
        assert change.breaks in (*BREAKS_FOR, "")
        assert change.before != change.after


@pytest.mark.parametrize(
    ("before", "after", "in_answer", "in_request"),
    [
        ({"a": 1}, {"a": 1, "b": "x"}, ("/b", "new", ""), ("/b", "new", "consumer")),
        ({"a": 1, "b": "x"}, {"a": 1}, ("/b", "gone", "consumer"), ("/b", "gone", "both")),
        ({"a": 1}, {"a": 1.5}, ("/a", "type", "consumer"), ("/a", "type", "producer")),
        ({"a": 1.5}, {"a": 1}, ("/a", "type", ""), ("/a", "type", "consumer")),
        ({"a": 1}, {"a": "1"}, ("/a", "type", "consumer"), ("/a", "type", "both")),
        ({"a": "x"}, {"a": None}, ("/a", "type", "consumer"), ("/a", "type", "both")),
        ({"a": None}, {"a": "x"}, ("/a", "known", ""), ("/a", "known", "")),
        ({"a": []}, {"a": ["x"]}, ("/a/[]", "known", ""), ("/a/[]", "known", "")),
        ({"a": {}}, {"a": {"b": 1}}, ("/a/b", "new", ""), ("/a/b", "new", "consumer")),
        ({"a": [{"b": 1}]}, {"a": [{"b": "x"}]}, ("/a/[]/b", "type", "consumer"), ("/a/[]/b", "type", "both")),
        ({"a": {"b": 1}}, {"a": "x"}, ("/a", "type", "consumer"), ("/a", "type", "both")),
        ({"a": 1}, {"a": 1, "2026-01-02": 1}, ("/{}", "new", ""), ("/{}", "new", "consumer")),
    ],
)
def test_each_example_of_a_change_breaks_the_expected_side(before, after, in_answer, in_request):
    assert list_changes([before], [after]) == [in_answer]
    assert list_changes([before], [after], "request") == [in_request]


@pytest.mark.parametrize(
    ("part", "wider", "narrower"),
    [("200", "consumer", ""), ("request", "producer", "consumer"), ("404", "consumer", "")],
)
def test_allowing_more_breaks_the_reader_and_allowing_less_only_the_sender_of_a_request(part, wider, narrower):
    assert list_changes([1], [1, None], part) == [("", "nullable", wider)]
    assert list_changes([1, None], [1], part) == [("", "not-null", narrower)]
    assert list_changes([1], [1, "x"], part) == [("", "type", wider)]
    assert list_changes([1, "x"], [1], part) == [("", "type", narrower)]


def test_a_value_that_is_only_null_now_is_one_change_and_narrower_than_one_that_could_be_null():
    """If the value could be null before, less is allowed now, which breaks nobody. Otherwise it breaks consumers."""
    assert list_changes([{"a": 1}, None], [None]) == [("", "type", "")]
    assert list_changes([{"a": 1}], [None]) == [("", "type", "consumer")]


def test_a_new_property_of_a_request_that_is_not_always_sent_breaks_nobody():
    before, after = (
        outline_of("request", sum_of({"a": 1})),
        outline_of("request", sum_of({"a": 1, "b": 1})),
    )
    (change,) = compare_outlines(
        before, after, is_always_there=lambda part, pointer: (part, pointer) != ("request", "/b")
    )
    assert change.breaks == ""


def test_a_value_after_enough_nulls_breaks_the_side_that_relied_on_null():
    before, after = (
        outline_of("200", sum_of({"a": None})),
        outline_of("200", sum_of({"a": None}, {"a": 1})),
    )
    (change,) = compare_outlines(before, after, was_usually_null=lambda part, pointer: (part, pointer) == ("200", "/a"))
    assert (change.kind, change.before, change.after, change.breaks) == ("type", "null", "integer or null", "consumer")
    requests = [outline_of("request", sum_of(*values)) for values in ([{"a": None}], [{"a": None}, {"a": 1}])]
    assert [change.breaks for change in compare_outlines(*requests, was_usually_null=lambda part, pointer: True)] == [
        "producer"
    ]


def test_a_removed_success_status_breaks_consumers_and_a_removed_error_nobody():
    before = outline_of(responses={"200": {"type": "string"}, "404": {"type": "string"}})
    breaks_by_part = {change.part: change.breaks for change in compare_outlines(before, outline_of())}
    assert breaks_by_part == {"200": "consumer", "404": ""}
    assert [change.breaks for change in compare_outlines(outline_of(), before)] == ["", ""]


def test_an_object_that_becomes_a_map_is_one_change_and_its_names_are_not_removed():
    few = sum_of({"a": 1, "b": 2})
    many = merge(
        few, sum_of({f"name{letter}{other}": 1 for letter in "abcdefghijklmnop" for other in "abcdefghijklmnop"})
    )
    assert [change.kind for change in compare_outlines(outline_of("200", few), outline_of("200", many))] == ["map"]


@pytest.mark.parametrize(("status", "kind", "breaks"), [
    ("403", "known", ""), ("201", "new", "consumer"), ("302", "new", "consumer"),
])  # fmt: skip
def test_the_first_request_that_could_be_observed_is_no_new_one(status, kind, breaks):
    """Requests are observed only with 2xx and 3xx answers. After refusals alone, no request is known (contract §4)."""
    answers = {status: {"type": "object", "properties": {}}}
    before = outline_of(responses=answers)
    after = outline_of("request", sum_of({"amount": 1}), responses=answers)
    (change,) = compare_outlines(before, after)
    assert (change.part, change.kind, change.breaks) == ("request", kind, breaks)


def test_parameters_are_compared_by_position():
    before = outline_of(parameters={"orderId": {"type": "integer"}, "item": {"type": "unknown", "reason": "empty"}})
    after = outline_of(parameters={"order": {"type": "string"}, "item": {"type": "string"}})
    assert [(c.pointer, c.kind, c.before, c.after, c.breaks) for c in compare_outlines(before, after)] == [
        ("/order", "renamed", "orderId", "order", ""),
        ("/order", "type", "integer", "string", "producer"),
        ("/item", "known", "nothing yet", "string", ""),
    ]


def test_a_redacted_name_is_reported():
    before, after = ({"type": "string"}, {"type": "string", "redacted": True})
    (change,) = compare_outlines(outline_of(responses={"200": before}), outline_of(responses={"200": after}))
    assert (change.kind, change.breaks) == ("redacted", "")


RECORD = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
MAP = {"type": "object", "values": {"type": "integer"}}


@pytest.mark.parametrize(("before", "after", "kind"), [(RECORD, MAP, "map"), (MAP, RECORD, "no-map")])
def test_switching_between_map_and_properties_is_one_change_that_breaks_nobody(before, after, kind):
    (change,) = compare_outlines(outline_of(responses={"200": before}), outline_of(responses={"200": after}))
    assert (change.pointer, change.kind, change.breaks) == ("", kind, "")


def test_a_name_next_to_keys_that_are_data_is_new_and_does_not_end_the_map():
    both = {**MAP, "properties": {"default": {"type": "integer"}}}
    (change,) = compare_outlines(outline_of(responses={"200": MAP}), outline_of(responses={"200": both}))
    assert (change.pointer, change.kind) == ("/default", "new")


@pytest.mark.parametrize(("before", "after", "change"), [
    ({}, {"requestMediaTypes": ["text/csv"]}, []),
    ({"requestMediaTypes": ["text/csv"]}, {"requestMediaTypes": ["text/csv"]}, []),
    ({"requestMediaTypes": ["text/csv"]}, {"requestMediaTypes": ["image/png", "text/csv"]},
     [("request", "text/csv", "image/png, text/csv", "")]),
    ({"responseMediaTypes": {"200": ["text/csv"]}}, {"responseMediaTypes": {"200": ["text/csv", "text/html"]}},
     [("200", "text/csv", "text/csv, text/html", "consumer")]),
    ({"responseMediaTypes": {"200": ["text/csv"]}}, {"responseMediaTypes": {"200": ["text/csv"], "500": ["a/*"]}}, []),
])  # fmt: skip
def test_an_added_media_type_of_an_answer_breaks_consumers_and_of_a_request_nobody(before, after, change):
    responses = {"200": {"type": "unknown", "reason": "empty"}}
    outlines = [{**outline_of(responses=responses), **members} for members in (before, after)]
    changes = compare_outlines(*outlines)
    assert [(c.part, c.before, c.after, c.breaks) for c in changes] == change
    assert {(c.pointer, c.kind) for c in changes} <= {("", "media-type")}


def test_a_field_that_became_a_file_is_a_change():
    fields = {"type": "string"}, {"type": "string", "format": "binary"}
    before, after = (outline_of(request={"type": "object", "properties": {"file": field}}) for field in fields)
    (change,) = compare_outlines(before, after)
    assert (change.pointer, change.before, change.after) == ("/file", "string", "string (binary)")
