"""The catalog as OpenAPI 3.1 and as tools (contract §5): valid, complete, and independent of counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from affidavit import describe, infer
from bench._support.exported_schemas import resolve_references
from catalog.downloads.openapi import build_openapi_document
from catalog.downloads.operation_names import MAX_TOOL_NAME_LENGTH, name_operations
from catalog.downloads.tools.tool_definitions import build_tools_document

REPEATED = {"type": "unknown", "reason": "divergent", "items": {"type": "string"}}
ONE_OR_MORE = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
NO_BODY = {"type": "unknown", "reason": "empty"}


def outline(method: str = "GET", path: str = "/orders", **members: Any) -> dict[str, Any]:
    return {
        "method": method, "path": path, "parameters": {}, "query": None, "request": None, "responses": {"200": NO_BODY},
        **members,
    }  # fmt: skip


def shape(value: Any) -> dict[str, Any]:
    return describe(infer(value), counts=False)


def build_document(*outlines: dict[str, Any]) -> dict[str, Any]:
    document = build_openapi_document("Lumen Books, production", "5b1f", outlines)
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    return document


def test_bodies_have_their_media_types_but_only_json_and_forms_have_a_shape():
    form = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}, "tag": REPEATED}}
    whole = build_document(
        outline(
            "POST", request=form, responses={"200": shape({"id": 1}), "400": NO_BODY, "500": NO_BODY},
            requestMediaTypes=["multipart/form-data"],
            responseMediaTypes={"200": ["application/json", "application/pdf", "text/csv"], "400": ["text/html"]},
        ),
        outline("PUT", requestMediaTypes=["application/octet-stream"]),
        outline(
            "PATCH", request=shape({"id": 1}), requestMediaTypes=["application/x-www-form-urlencoded", "text/json"]
        ),
    )  # fmt: skip
    document = resolve_references(whole["paths"], whole["components"]["schemas"])["/orders"]
    answers = document["post"]["responses"]
    assert document["post"]["requestBody"]["content"] == {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}, "tag": ONE_OR_MORE},
            }
        }
    }
    assert answers["200"]["content"] == {
        "application/json": {"schema": {"type": "object", "properties": {"id": {"type": "integer"}}}},
        "application/pdf": {},
        "text/csv": {"schema": {"type": "string"}},
    }
    assert answers["400"]["content"] == {"text/html": {"schema": {"type": "string"}}}
    assert "content" not in answers["500"]
    assert document["put"]["requestBody"]["content"] == {"application/octet-stream": {}}
    schema = {"schema": {"type": "object", "properties": {"id": {"type": "integer"}}}}
    assert document["patch"]["requestBody"]["content"] == {
        "application/x-www-form-urlencoded": schema, "text/json": schema,
    }  # fmt: skip


def test_a_shape_without_a_media_type_is_listed_as_json_next_to_the_others():
    (operation,) = build_document(
        outline(responses={"200": shape([1])}, responseMediaTypes={"200": ["text/csv"]})
    )["paths"]["/orders"].values()  # fmt: skip
    assert operation["responses"]["200"]["content"].keys() == {"text/csv", "application/json"}


def test_a_query_name_that_is_sometimes_repeated_is_a_string_or_an_array_of_strings():
    evidence = infer({"tag": "a", "ids": ["1", "2"]})
    evidence.add(infer({"tag": ["a", "b"]}))
    query = describe(evidence, counts=False)
    (operation,) = build_document(outline(query=query))["paths"]["/orders"].values()
    assert {parameter["name"]: parameter["schema"] for parameter in operation["parameters"]} == {
        "ids": {"type": "array", "items": {"type": "string"}}, "tag": ONE_OR_MORE,
    }  # fmt: skip
    (tool,) = build_tools_document("production", [outline(query=query)])["tools"]
    for value in ("a", ["a"], ["a", "b"]):
        Draft202012Validator(tool["inputSchema"]).validate({"query": {"tag": value}})
    assert not Draft202012Validator(tool["inputSchema"]).is_valid({"query": {"tag": 1}})
    (schema,) = build_document(outline(responses={"200": query}))["components"]["schemas"].values()
    assert schema["properties"]["tag"] == {}


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


def test_an_operation_has_its_parameters_body_and_answers():
    document = build_document(
        outline(
            "PUT", "/orders/{orderId}", parameters={"orderId": {"type": "integer"}}, query=shape({"dry": "1"}),
            request=shape({"note": None}), responses={"200": shape([1]), "204": NO_BODY},
        )
    )  # fmt: skip
    assert document["info"] == {"title": "Lumen Books, production", "version": "5b1f"}
    assert document["paths"]["/orders/{orderId}"]["put"] == {
        "operationId": "put_orders_by_orderId",
        "summary": "Replace an order",
        "tags": ["orders"],
        "parameters": [
            {"name": "orderId", "in": "path", "required": True, "schema": {"type": "integer"}},
            {"name": "dry", "in": "query", "schema": {"type": "string"}},
        ],
        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/OrderPutRequest"}}}},
        "responses": {
            "200": {
                "description": "OK",
                "content": {"application/json": {"schema": {"type": "array", "items": {"type": "integer"}}}},
            },
            "204": {"description": "No Content"},
        },
    }
    assert document["components"]["schemas"] == {
        "OrderPutRequest": {"type": "object", "properties": {"note": {"type": "null"}}}
    }


def test_the_document_says_where_the_api_is_served_and_how_calls_are_signed():
    document = build_document(outline())
    (server,) = document["servers"]
    assert server["url"] == "{origin}"
    assert "default" in server["variables"]["origin"]
    (requirement,) = document["security"]
    schemes = document["components"]["securitySchemes"]
    assert {(schemes[name]["in"], schemes[name]["name"]) for name in requirement} == {("header", "X-Service-Intent")}


def test_an_operation_has_the_name_of_its_tool():
    outlines = [
        outline(path="/a-b"),
        outline(path="/a/b"),
        outline("POST", "/a/{b}", parameters={"b": {"type": "string"}}),
    ]
    operations = [operation for item in build_document(*outlines)["paths"].values() for operation in item.values()]
    tools = build_tools_document("production", outlines)["tools"]
    assert [operation["operationId"] for operation in operations] == [tool["name"] for tool in tools]


def test_templates_that_differ_only_in_names_are_one_path():
    document = build_document(
        outline("DELETE", "/orders/{id}", parameters={"id": {"type": "unknown"}}),
        outline("GET", "/orders/{orderId}", parameters={"orderId": {"type": "integer"}}),
    )
    (path,) = document["paths"]
    assert path == "/orders/{id}"
    assert document["paths"][path]["get"]["parameters"][0]["name"] == "id"


def test_a_method_unknown_to_openapi_is_under_x_methods():
    document = build_document(outline("GET"), outline("PURGE"))
    assert set(document["paths"]["/orders"]) == {"get", "x-methods"}
    assert set(document["paths"]["/orders"]["x-methods"]) == {"PURGE"}


def test_query_names_that_are_data_become_one_free_form_parameter():
    document = build_document(outline(query=shape({"more": "x", "2026-01-02": "y"})))
    _, free = document["paths"]["/orders"]["get"]["parameters"]
    assert free["name"] == "more_"
    assert free["schema"] == {"type": "object", "additionalProperties": {"type": "string"}}


def test_a_status_without_a_standard_phrase_has_a_description():
    assert build_document(outline(responses={"599": NO_BODY}))["paths"]["/orders"]["get"]["responses"]["599"][
        "description"
    ]


def test_names_are_short_plain_and_unique():
    operations = [("GET", "/a-b"), ("GET", "/a/b"), ("GET", "/"), ("GET", "/" + "long/" * 40), ("GET", "/äb")]
    names = name_operations(operations)
    assert names[2] == "get"
    assert len({name.lower() for name in names}) == len(names)
    assert all(len(name) <= MAX_TOOL_NAME_LENGTH and name.replace("_", "").isalnum() for name in names)


def test_paths_that_were_chosen_to_have_one_digest_have_names_of_their_own():
    """Digests have 32 bits: a reporter finds such a pair within seconds."""
    pair = [
        ("GET", "/go-go-go-go/go-go/go/go/go-go-go/go/go/go/go/go/go-go"),
        ("GET", "/go-go-go/go/go/go-go/go-go/go/go/go-go-go/go/go/go-go"),
    ]
    names = name_operations(pair)
    assert len(set(names)) == 2
    assert name_operations(pair[::-1]) == names[::-1]


def test_a_path_that_ends_like_a_digest_does_not_clash_with_another_name():
    operations = [("GET", "/a-b"), ("GET", "/a/b")]
    digest = name_operations(operations)[0].removeprefix("get_a_b_")
    operations += [("GET", f"/a/b/{digest}"), ("GET", f"/a/b/{digest.upper()}")]
    assert len({name.lower() for name in name_operations(operations)}) == len(operations)


@given(st.permutations([("GET", "/a-b"), ("GET", "/a/b"), ("POST", "/a/{b}"), ("POST", "/a/by/b")]))
def test_a_name_does_not_depend_on_the_order(operations):
    named = dict(zip(operations, name_operations(operations), strict=True))
    assert named == dict(zip(sorted(operations), name_operations(sorted(operations)), strict=True))


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
