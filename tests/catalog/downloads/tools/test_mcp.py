"""The catalog as the result of MCP's `tools/list` (revisions 2025-06-18 and 2026-07-28), true to the observations."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from affidavit import Evidence, describe, infer
from catalog.downloads.tools.mcp import build_mcp_document, build_output_schema
from tests.catalog.downloads.outlines import NO_BODY, outline, shape
from tests.catalog.downloads.schemas.test_json_schema import VALUES

HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
OBJECTS = st.dictionaries(st.sampled_from(["id", "name", "8f14e45fceea167a"]), VALUES, max_size=4)
SEGMENTS = st.sampled_from(["a", "A", "by", "{id}", "{a}", "a-b", "é", "", "0a1b2c3d", "long" * 20])
OPERATIONS = st.tuples(st.sampled_from(["GET", "get", "M-SEARCH"]), st.lists(SEGMENTS).map("/".join).map("/{}".format))


def list_tools(*outlines: dict[str, Any]) -> list[dict[str, Any]]:
    return build_mcp_document(outlines, {})["tools"]


def learn(*values: Any) -> dict[str, Any]:
    evidence = Evidence()
    for value in values:
        evidence.add(infer(value))
    return describe(evidence, counts=False)


def test_a_tool_has_everything_that_a_client_shows_and_validates():
    (tool,) = list_tools(
        outline("GET", "/orders/{orderId}", parameters={"orderId": {"type": "integer"}}, query=shape({"page": "1"}),
                responses={"200": shape({"id": 1}), "404": shape({"error": "x"})})
    )  # fmt: skip
    assert tool == {
        "name": "get_orders_by_orderId",
        "title": "GET /orders/{orderId}",
        "description": "GET /orders/{orderId}. Answers 200 with an object (id), 404 with an object (error).",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "object",
                    "properties": {"orderId": {"type": "integer"}},
                    "required": ["orderId"],
                    "additionalProperties": False,
                },
                "query": {"type": "object", "properties": {"page": {"type": "string"}}},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "annotations": dict(zip(HINTS, [True, False, True, True], strict=True)),
        "_meta": {"affidavit/operation": "GET /orders/{orderId}", "affidavit/gate": False},
    }


def test_the_result_has_what_the_latest_revision_requires():
    document = build_mcp_document([], {})
    assert document == {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@pytest.mark.parametrize(
    ("responses", "schema"),
    [
        ({"200": shape({"id": 1})}, {"type": "object", "properties": {"id": {"type": "integer"}}}),
        ({"200": shape({})}, {"type": "object"}),
        ({"200": learn({"17": 1}, {})}, {"type": "object", "additionalProperties": {"type": "integer"}}),
        (
            {"200": shape({"id": 1}), "201": shape({"id": 2}), "404": shape("gone")},
            {"type": "object", "properties": {"id": {"type": "integer"}}},
        ),
        (
            {"200": shape({"id": 1}), "202": shape({"job": "x"})},
            {
                "type": "object",
                "anyOf": [
                    {"type": "object", "properties": {"id": {"type": "integer"}}},
                    {"type": "object", "properties": {"job": {"type": "string"}}},
                ],
            },
        ),
        ({"200": shape({"id": 1}), "204": NO_BODY}, None),
        ({"200": shape([{"id": 1}])}, None),
        ({"200": learn({"id": 1}, None)}, None),
        ({"200": learn({}, None)}, None),
        ({"200": learn({"id": 1}, [1])}, None),
        ({"200": shape("text")}, None),
        ({"200": shape({"id": 1}), "201": shape([1])}, None),
        ({"404": shape({"error": "x"})}, None),
        ({}, None),
    ],
)
def test_a_tool_has_an_output_schema_only_if_every_success_is_an_object(responses, schema):
    assert build_output_schema(outline(responses=responses)) == schema


@given(st.dictionaries(st.sampled_from(["200", "201", "404"]), st.lists(VALUES | OBJECTS, min_size=1, max_size=4)))
def test_every_observed_success_is_valid_under_the_output_schema(bodies):
    schema = build_output_schema(outline(responses={status: learn(*values) for status, values in bodies.items()}))
    successes = [value for status, values in bodies.items() if status[0] == "2" for value in values]
    if schema is None:
        assert not successes or not all(isinstance(value, dict) for value in successes)
        return
    assert schema["type"] == "object"
    Draft202012Validator.check_schema(schema)
    assert [value for value in successes if not Draft202012Validator(schema).is_valid(value)] == []


def test_a_description_has_at_most_the_length_that_assistants_accept():
    responses = {str(status): shape({f"{'long' * 8}{number}": 1 for number in range(20)}) for status in (200, 400, 409)}
    (tool,) = list_tools(outline(responses=responses))
    assert len(tool["description"]) == 1024
    assert tool["description"].endswith("…")


@pytest.mark.parametrize("operation", [("~", "/"), ("!", "/*")])
def test_an_operation_without_letters_has_a_name(operation):
    (tool,) = list_tools(outline(*operation))
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"])


@given(st.lists(OPERATIONS, unique=True, max_size=12))
def test_every_name_is_unique_and_accepted_by_assistants(operations):
    parameters = [re.findall(r"\{(.*?)\}", path) for _, path in operations]
    tools = list_tools(
        *[
            outline(method, path, parameters={name: {"type": "string"} for name in names})
            for (method, path), names in zip(operations, parameters, strict=True)
        ]
    )
    names = [tool["name"] for tool in tools]
    assert [name for name in names if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)] == []
    assert len({name.lower() for name in names}) == len(names)


@pytest.mark.parametrize(("media_types", "has_schema"), [
    (["application/json"], True), (["application/json", "application/problem+json"], True),
    (["application/json", "text/csv"], False), (["text/csv"], False), ([], True),
])  # fmt: skip
def test_a_tool_that_also_answers_other_than_json_has_no_output_schema(media_types, has_schema):
    responses = {"200": shape({"id": 1}), "404": NO_BODY}
    types = {"200": media_types, "404": ["text/html"]}
    schema = build_output_schema(outline(responses=responses, responseMediaTypes=types))
    assert (schema is not None) == has_schema
