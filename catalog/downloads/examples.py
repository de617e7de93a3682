"""The examples of downloads in the API docs: parts of real answers (contract 5)."""

ORDER = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "paid": {"type": "boolean"}},
}
PARAMETERS = {"orderId": {"type": "integer"}}
INPUT = {"type": "object", "properties": PARAMETERS, "required": ["orderId"], "additionalProperties": False}
CATALOG = {
    "environment": "production",
    "revision": "9b2f6c0e",
    "operations": [
        {
            "method": "GET",
            "path": "/orders/{orderId}",
            "observations": 2627,
            "firstSeenAt": 1790000000,
            "lastSeenAt": 1790086400,
            "parameters": PARAMETERS,
            "responses": {"200": ORDER},
        }
    ],
}
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Lumen Books, production", "version": "9b2f6c0e"},
    "paths": {
        "/orders/{orderId}": {
            "get": {
                "operationId": "get_orders_orderId",
                "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": ORDER}}}},
            }
        }
    },
}
SCHEMAS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {"get_orders_orderId_200": ORDER},
}
TOOLS = {
    "tools": [
        {
            "name": "get_orders_orderId",
            "operation": "GET /orders/{orderId}",
            "description": "GET /orders/{orderId}",
            "inputSchema": INPUT,
            "gate": False,
        }
    ]
}
MCP_TOOLS = {
    "tools": [
        {
            "name": "get_orders_orderId",
            "title": "GET /orders/{orderId}",
            "description": "GET /orders/{orderId}",
            "inputSchema": INPUT,
            "annotations": {"readOnlyHint": True},
            "_meta": {"affidavit/operation": "GET /orders/{orderId}", "affidavit/gate": False},
        }
    ]
}
REDACTION_RULES = {"rules": [{"kind": "sensitive", "name": "*email*"}]}
