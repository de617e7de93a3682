"""The catalog as OpenAPI, JSON Schema and tools: strong ETags, equal bytes for equal shapes, one workspace only."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.catalog.reports import deliver, observation

pytestmark = pytest.mark.django_db
FORMS = ("openapi", "schemas", "tools", "mcp")
API_FORMATS = ("openai", "anthropic")


@pytest.fixture(params=FORMS)
def address(request: pytest.FixtureRequest) -> str:
    return f"/api/catalog/{request.param}.json"


@pytest.fixture
def filled_api(api: Any, workspace: Any) -> Any:
    deliver(
        api,
        workspace,
        observation("POST", "/orders", 201, request={"sku": "x"}, response={"id": 1}),
        observation(parameters={"orderId": {"type": "integer"}}, query={"expand": "x"}, response={"id": 1}),
        observation("GET", "/scanned", 404),
    )
    return api


def test_every_format_has_all_successful_operations(filled_api):
    openapi, schemas, tools, mcp = (filled_api.get(f"/api/catalog/{form}.json").json() for form in FORMS)
    assert list(openapi["paths"]) == ["/orders", "/orders/{orderId}"]
    assert list(OpenAPIV31SpecValidator(openapi).iter_errors()) == []
    assert set(schemas["$defs"]) == {
        "POST /orders request", "POST /orders 201", "GET /orders/{orderId} query", "GET /orders/{orderId} 200",
    }  # fmt: skip
    Draft202012Validator.check_schema(schemas)
    assert [tool["name"] for tool in tools["tools"]] == ["post_orders", "get_orders_by_orderId"]
    assert [tool["title"] for tool in mcp["tools"]] == ["POST /orders", "GET /orders/{orderId}"]


def test_tools_in_the_formats_of_openai_and_anthropic_have_the_same_content(filled_api):
    tools, openai, anthropic = (
        filled_api.get("/api/catalog/tools.json", **query).json()["tools"]
        for query in ({}, *({"format": name} for name in API_FORMATS))
    )
    assert openai == [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["inputSchema"],
                "strict": False,  # without it, the Responses API requires every input
            },
        }
        for tool in tools
    ]
    assert anthropic == [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}
        for tool in tools
    ]


@pytest.mark.parametrize("name", ["", "OpenAI", "gemini"])
def test_an_unknown_tool_format_is_refused_and_the_known_ones_are_listed(filled_api, name):
    response = filled_api.get("/api/catalog/tools.json", format=name)
    assert (response.status_code, response.json()["code"]) == (400, "invalid-request")
    assert response.json()["detail"] == "Send format=openai or format=anthropic, or leave it out."


def test_an_empty_catalog_is_valid_in_every_format(api, address):
    response = api.get(address, environment="staging")
    assert response.status_code == 200
    assert json.loads(response.content)
    if "openapi" in address:
        assert list(OpenAPIV31SpecValidator(response.json()).iter_errors()) == []


def test_more_observations_change_no_byte_and_no_etag(filled_api, workspace, address):
    before = filled_api.get(address)
    deliver(filled_api, workspace, observation("POST", "/orders", 201, 99, request={"sku": "y"}, response={"id": 2}))
    after = filled_api.get(address)
    assert (after.content, after["ETag"]) == (before.content, before["ETag"])
    deliver(filled_api, workspace, observation("POST", "/orders", 201, request={"sku": 1}))
    changed = filled_api.get(address)
    assert changed["ETag"] != before["ETag"]
    assert "tools" in address or changed.content != before.content


def test_a_known_etag_is_not_modified(filled_api, address):
    first = filled_api.get(address)
    again = filled_api.get(address, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert first["ETag"].startswith('"')


def test_the_formats_have_different_etags(filled_api):
    answers = [filled_api.get(f"/api/catalog/{form}.json") for form in FORMS]
    answers += [filled_api.get("/api/catalog/tools.json", format=name) for name in API_FORMATS]
    assert len({answer["ETag"] for answer in answers}) == len(answers)


def test_another_workspaces_key_sees_nothing_of_it(filled_api, other_workspace, address):
    assert b"orders" not in filled_api.get(address, key=other_workspace.full_key).content
    assert filled_api.get(address, key="").status_code == 401


def test_a_signed_in_reader_names_the_workspace(filled_api, workspace, browser_client, address):
    assert b"orders" in browser_client.get(address, {"workspace": workspace.workspace.slug}).content
    assert browser_client.get(address).json()["code"] == "invalid-request"
