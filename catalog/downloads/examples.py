"""The examples of downloads in the API docs: what the hub answers after the example of a witness report (contract §5).

The OpenAPI document is shortened: it has no servers, security and tags.
"""

ORDER = {"type": "object", "properties": {"id": {"type": "integer"}}}
PATH_PARAMETERS = {
    "type": "object",
    "properties": {"orderId": {"type": "integer"}},
    "required": ["orderId"],
    "additionalProperties": False,
}
TOOL = {
    "name": "get_orders_by_orderId",
    "description": "GET /orders/{orderId}. Answers 200 with an object (id).",
    "inputSchema": {
        "type": "object",
        "properties": {"path": PATH_PARAMETERS},
        "required": ["path"],
        "additionalProperties": False,
    },
}
CATALOG = {
    "environment": "production",
    "revision": "e96043b64184e69553512abe847ff663783cb94e8e11ed6f86cf1cc7586f35d0",
    "operations": [
        {
            "method": "GET",
            "path": "/orders/{orderId}",
            "observations": 1,
            "firstSeenAt": 1790000000,
            "lastSeenAt": 1790000000,
            "parameters": {"orderId": {"type": "integer", "seen": 1}},
            "query": None,
            "request": None,
            "responses": {
                "200": {"type": "object", "seen": 1, "properties": {"id": {"type": "integer", "seen": 1}}},
            },
        }
    ],
}
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Lumen Books, production", "version": CATALOG["revision"]},
    "paths": {
        "/orders/{orderId}": {
            "get": {
                "operationId": "get_orders_by_orderId",
                "summary": "Get an order",
                "parameters": [{"name": "orderId", "in": "path", "required": True, "schema": {"type": "integer"}}],
                "responses": {
                    "200": {
                        "description": "OK",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}},
                    }
                },
            }
        }
    },
    "components": {"schemas": {"Order": ORDER}},
}
SCHEMAS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Lumen Books, production",
    "$defs": {"GET /orders/{orderId} 200": ORDER},
}
TOOLS = {
    "environment": "production",
    "tools": [{**TOOL, "operation": "GET /orders/{orderId}", "requiresConfirmation": False}],
}
MCP_TOOLS = {
    "tools": [
        {
            **TOOL,
            "title": "GET /orders/{orderId}",
            "outputSchema": ORDER,
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": True,
            },
            "_meta": {"affidavit/operation": "GET /orders/{orderId}", "affidavit/gate": False},
        }
    ],
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}
REDACTION_RULES = {"rules": [{"kind": "sensitive", "name": "*email*"}]}
