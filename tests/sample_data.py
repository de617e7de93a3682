"""Data for every page of a workspace, as machines report it."""

from __future__ import annotations

import time
import uuid
from typing import Any

from django.utils import timezone

from catalog.ingest.fold import fold_reports
from workspaces.create import NewWorkspace


def fill_workspace(created: NewWorkspace, api: Any) -> str:
    """Put something on every page of a new workspace; return the start of its pages' addresses."""
    now = int(time.time())
    conversations = [{"conversationId": f"conv_{n}", "startedAt": now - n * 3600} for n in range(60)]
    assert api.post("/api/conversations", {"conversations": conversations}).status_code == 200
    staging = [{"conversationId": f"stage_{n}"} for n in range(20)]
    assert api.post("/api/conversations", {"environment": "staging", "conversations": staging}).status_code == 200
    keys = ["purchase", "renewal", "ticket_closed", "=formula"]
    outcomes = [{"conversationId": f"conv_{n}", "outcomeKey": keys[n % 4]} for n in range(50)]
    outcomes += [{"conversationId": f"stage_{n}", "outcomeKey": "purchase"} for n in range(12)]
    outcomes += [{"conversationId": odd, "outcomeKey": "renewal"} for odd in ("undefined", '"conv_1"', "conv_unseen")]
    assert api.post("/api/conversation-outcomes", {"outcomes": outcomes}).status_code == 200
    verifications = [
        {"result": "accepted", "version": 2, "count": 900, "secret": created.signing_secret[:8]},
        {"result": "accepted", "version": 1, "count": 100},
    ]
    verifications += [
        {"result": reason, "version": 2, "operation": "POST /orders", "toolCallId": f"call_{reason}"}
        for reason in ("expired", "args-mismatch")
    ]
    report = {"reportId": str(uuid.uuid4()), "verifications": verifications}
    assert api.post("/api/verification-reports", report).status_code == 200
    report = {"reportId": str(uuid.uuid4()), "observations": observations()}
    assert api.post("/api/witness-reports", report).status_code == 202
    report = {"environment": "staging", "reportId": str(uuid.uuid4()), "observations": observations()[1:]}
    assert api.post("/api/witness-reports", report).status_code == 202
    annotation = {"text": "Deploy 4.1", "url": "https://example.com/4.1", "allEnvironments": True}
    assert api.post("/api/annotations", annotation).status_code == 201
    for environment in created.workspace.environments.all():
        fold_reports(environment, now=timezone.now())
    drifted = {"method": "GET", "path": "/search", "status": 400, "count": 1, "response": {"type": "string"}}
    report = {"reportId": str(uuid.uuid4()), "observations": [drifted]}
    assert api.post("/api/witness-reports", report).status_code == 202
    fold_reports(created.workspace.environments.get(name="production"), now=timezone.now())
    return f"/w/{created.workspace.slug}/production"


def order(count: int) -> dict[str, Any]:
    """Return the descriptor of an order.

    count: how often an order was observed.
    """
    customer = {"email": {"type": "string", "redacted": True}, "phone": {"type": "string", "nulls": 1}}
    properties = {
        "id": {"type": "integer"},
        "status": {"type": "string"},
        "customer": {"type": "object", "properties": customer},
        "items": {"type": "array", "items": {"type": "object", "seen": 31, "properties": {"sku": {"type": "string"}}}},
        "coupon": {"type": "unknown", "reason": "divergent", "types": {"string": count - 1, "object": 1}},
        "returns": {"type": "array", "items": {"type": "unknown", "reason": "empty"}},
    }
    return {"type": "object", "properties": properties}


def observations() -> list[dict[str, Any]]:
    get_order = {"method": "GET", "path": "/orders/{orderId}", "parameters": {"orderId": {"type": "integer"}}}
    error = {"type": "object", "properties": {"error": {"type": "string"}}}
    query = {"type": "object", "properties": {"q": {"type": "string"}}}
    return [
        {**get_order, "status": 200, "count": 12, "response": order(12)},
        {**get_order, "status": 404, "count": 3, "response": error},
        {"method": "POST", "path": "/orders", "status": 201, "count": 5, "request": order(5), "response": order(5)},
        {"method": "GET", "path": "/search", "status": 200, "count": 7, "query": query},
    ]
