"""The client of the `mcp` package reads the tools of mcp.json from a server, in both protocols of the package."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, ListToolsResult

from tests.catalog.reports import deliver, observation

pytestmark = pytest.mark.django_db


def build_server(document: dict[str, Any]) -> Server[Any]:
    async def list_tools(*_: Any) -> ListToolsResult:
        return ListToolsResult.model_validate(document)

    async def call_tool(_: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[], structured_content=params.arguments["body"])

    return Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)


@pytest.fixture
def document(api: Any, workspace: Any) -> dict[str, Any]:
    deliver(
        api,
        workspace,
        observation("GET", "/orders", query={"page": "1"}, response={"orders": [{"id": 1}], "next": None}),
        observation("POST", "/orders", 201, request={"sku": "x"}, response={"id": 1}),
        observation("POST", "/orders", 202, request={"sku": "x"}, response={"job": "x"}),
        observation("DELETE", "/orders/{orderId}", 204, parameters={"orderId": {"type": "integer"}}),
        observation("GET", "/books", response=[{"id": 1}]),
    )
    return json.loads(api.get("/api/catalog/mcp.json").content)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_the_client_lists_every_tool_as_it_was_downloaded(document, mode):
    async def list_tools() -> Any:
        async with Client(build_server(document), mode=mode) as client:
            return await client.list_tools()

    result = anyio.run(list_tools)
    assert [tool.model_dump(by_alias=True, exclude_unset=True) for tool in result.tools] == document["tools"]
    assert len(result.tools) == 4
    assert (result.next_cursor, result.ttl_ms, result.cache_scope) == (None, 0, "private")


@pytest.mark.parametrize(
    ("name", "body", "is_valid"),
    [
        ("get_orders", {"orders": [{"id": 2}], "next": None}, True),
        ("get_orders", {"orders": [{"id": "x"}]}, False),
        ("get_orders", None, False),
        ("post_orders", {"id": 7}, True),
        ("post_orders", {"job": "y"}, True),
        ("post_orders", {"id": "x", "job": 1}, False),
        ("get_books", None, True),
        ("delete_orders_by_orderId", None, True),
    ],
)
def test_the_client_accepts_exactly_the_results_whose_shape_was_observed(document, name, body, is_valid):
    async def call() -> bool:
        async with Client(build_server(document)) as client:
            await client.list_tools()
            try:
                return (await client.call_tool(name, {"body": body})).structured_content == body
            except RuntimeError:  # the client raises this for a result that is invalid under outputSchema
                return False

    assert anyio.run(call) is is_valid
