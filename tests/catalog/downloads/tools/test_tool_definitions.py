"""The catalog as tools (contract §5): what each takes, what it answers, and whether it has to be confirmed."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from catalog.downloads.tools.tool_definitions import build_tools_document
from tests.catalog.downloads.outlines import NO_BODY, outline, shape


def test_a_tool_lists_bodies_that_are_not_json():
    (tool,) = build_tools_document("production", [
        outline(
            "POST", request=shape({"a": "1"}), requestMediaTypes=["multipart/form-data"],
            responses={"200": shape({"id": 1}), "202": NO_BODY, "204": NO_BODY, "400": NO_BODY},
            responseMediaTypes={
                "200": ["application/json", "text/csv"], "202": ["application/pdf", "image/*"], "400": ["text/html"],
            },
        )
    ])["tools"]  # fmt: skip
    assert tool["description"] == (
        "POST /orders. Takes multipart/form-data. Answers 200 with an object (id) or text/csv, "
        "202 with application/pdf or image/*, 204 without a body, 400 with text/html."
    )
    bodies = [
        build_tools_document("production", [outline("PUT", requestMediaTypes=types)])["tools"][0]["inputSchema"]
        for types in (["text/csv"], ["text/csv", "application/pdf"])
    ]
    assert [schema["properties"]["body"] for schema in bodies] == [{"type": "string"}, {}]


@pytest.mark.parametrize(
    ("media_types", "bodies"),
    [
        (["application/json", "text/csv"], [{"a": 1}, "a;1"]),
        (["application/json", "text/csv", "application/pdf"], [{"a": 1}, "a;1", None]),
        (["text/csv"], [{"a": 1}, "a;1"]),
        (["application/json", "application/x-www-form-urlencoded"], [{"a": 1}]),
    ],
)
def test_every_body_that_was_sent_is_an_input_of_the_tool(media_types, bodies):
    posted = outline("POST", request=shape({"a": 1}), requestMediaTypes=media_types)
    (tool,) = build_tools_document("production", [posted])["tools"]
    schema = Draft202012Validator(tool["inputSchema"])
    assert [body for body in bodies if not schema.is_valid({"body": body})] == []
    assert schema.is_valid({"body": {"a": "x"}}) == ("application/pdf" in media_types)


@pytest.mark.parametrize(("method", "asks"), [("GET", False), ("HEAD", False), ("POST", True), ("PURGE", True)])
def test_a_tool_says_whether_a_call_has_to_be_confirmed(method, asks):
    (tool,) = build_tools_document("production", [outline(method)])["tools"]
    assert tool["requiresConfirmation"] is asks


def test_a_tool_takes_path_query_and_body_as_separate_arguments():
    (tool,) = build_tools_document(
        "production",
        [
            outline(
                "POST", "/orders/{id}", parameters={"id": {"type": "integer"}}, query=shape({"id": "x"}),
                request=shape({"id": True}), responses={"200": shape([{"id": 1}]), "204": NO_BODY},
            )
        ],
    )["tools"]  # fmt: skip
    schema = Draft202012Validator(tool["inputSchema"])
    assert schema.is_valid({"path": {"id": 7}, "query": {"id": "x"}, "body": {"id": True}})
    assert not schema.is_valid({"query": {"id": "x"}})
    assert not schema.is_valid({"path": {"id": "seven"}})
    assert tool["operation"] == "POST /orders/{id}"
    assert tool["description"] == "POST /orders/{id}. Answers 200 with a list of an object (id), 204 without a body."
