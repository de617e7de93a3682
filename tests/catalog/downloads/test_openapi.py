"""The catalog as OpenAPI 3.1 (contract §5): valid, complete, and independent of counts."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from affidavit import describe, infer
from bench._support.exported_schemas import resolve_references
from catalog.downloads.openapi import build_openapi_document
from catalog.downloads.tools.tool_definitions import build_tools_document
from tests.catalog.downloads.outlines import NO_BODY, outline, shape

REPEATED = {"type": "unknown", "reason": "divergent", "items": {"type": "string"}}
ONE_OR_MORE = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


FILE = {"schema": {"type": "string", "format": "binary"}}


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
    assert document["put"]["requestBody"]["content"] == {"application/octet-stream": FILE}
    schema = {"schema": {"type": "object", "properties": {"id": {"type": "integer"}}}}
    assert document["patch"]["requestBody"]["content"] == {
        "application/x-www-form-urlencoded": schema, "text/json": schema,
    }  # fmt: skip


def test_bodies_that_code_generators_can_send_have_a_schema_even_if_no_shape_is_known():
    media_types = ["application/json", "application/octet-stream", "application/vnd.github+json", "application/xml"]
    document = build_document(
        outline("PUT", requestMediaTypes=media_types, responseMediaTypes={"200": media_types}),
    )
    operation = document["paths"]["/orders"]["put"]
    assert operation["requestBody"]["content"] == {
        "application/json": {"schema": {}},
        "application/octet-stream": FILE,
        "application/vnd.github+json": {"schema": {}},
        "application/xml": {},
    }
    assert operation["responses"]["200"]["content"] == operation["requestBody"]["content"]


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
