"""The schema of a shape accepts every observed value and refuses values of other types (contract §5)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from affidavit import Evidence, describe, infer
from catalog.downloads.schemas.json_schema import build_schema, build_schema_document

NAMES = st.sampled_from(["id", "name", "items", "", "__proto__", "a/b~c", "ann@example.com", "8f14e45fceea167a"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def learnt(*values: Any) -> dict[str, Any]:
    evidence = Evidence()
    for value in values:
        evidence.add(infer(value))
    return build_schema(describe(evidence, counts=False))


def passes(schema: dict[str, Any], value: Any) -> bool:
    return Draft202012Validator(schema).is_valid(value)


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_every_observed_value_is_valid_under_the_schema_of_all(values):
    schema = learnt(*values)
    Draft202012Validator.check_schema(schema)
    assert [value for value in values if not passes(schema, value)] == []


@pytest.mark.parametrize(
    ("seen", "refused"),
    [
        (["a"], 1),
        ([1, 2], 1.5),
        ([1, 2.5], "1"),
        ([True], 1),
        ([1], True),
        ([["a"]], [1]),
        ([{"id": 1}], {"id": "1"}),
        ([{"id": {"a": 1}}], {"id": []}),
        ([1, 2], None),
        ([{"17": 1, "18": 2}], {"19": "x"}),
    ],
)
def test_a_value_of_another_type_is_invalid(seen, refused):
    assert not passes(learnt(*seen), refused)


@pytest.mark.parametrize(
    ("seen", "schema"),
    [
        (["a", None], {"type": ["string", "null"]}),
        (["a", 1], {}),
        ([None], {"type": "null"}),
        ([[]], {"type": "array", "items": {}}),
        ([{}], {}),
        ([{"17": 1}], {"type": "object", "additionalProperties": {"type": "integer"}}),
        ([{"id": 1}, {}], {"type": "object", "properties": {"id": {"type": "integer"}}}),
    ],
)
def test_the_schema_states_only_what_is_certain(seen, schema):
    assert learnt(*seen) == schema


def test_no_property_is_required_however_often_it_was_present():
    assert "required" not in json.dumps(learnt(*[{"id": 1}] * 1000))


def test_every_part_with_a_shape_has_a_definition_named_after_it():
    outline = {
        "method": "GET", "path": "/orders/{orderId}", "parameters": {"orderId": {"type": "integer"}}, "request": None,
        "query": {"type": "object", "properties": {"expand": {"type": "string"}}},
        "responses": {"200": {"type": "boolean"}, "204": {"type": "unknown", "reason": "empty"}},
    }  # fmt: skip
    document = build_schema_document("Lumen Books, production", [outline])
    Draft202012Validator.check_schema(document)
    assert document["$defs"] == {
        "GET /orders/{orderId} query": {"type": "object", "properties": {"expand": {"type": "string"}}},
        "GET /orders/{orderId} 200": {"type": "boolean"},
    }
