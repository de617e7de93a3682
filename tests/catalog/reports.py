"""Observations and reports as a reporter sends them, for tests."""

from __future__ import annotations

import uuid
from typing import Any

from django.test import Client
from django.utils import timezone

from affidavit import describe, infer
from catalog.ingest.fold import fold_reports
from workspaces.create import NewWorkspace
from workspaces.models import Environment

ABSENT = object()


def observation(
    method: str = "GET",
    path: str = "/orders/{orderId}",
    status: int = 200,
    count: int = 1,
    *,
    response: Any = ABSENT,
    request: Any = ABSENT,
    query: Any = ABSENT,
    **members: Any,
) -> dict[str, Any]:
    """Return an observation as reporters send it.

    response, request, query: values whose shapes are reported.
    """
    parts = {"response": response, "request": request, "query": query}
    shapes = {name: describe(infer(value)) for name, value in parts.items() if value is not ABSENT}
    return {"method": method, "path": path, "status": status, "count": count, **shapes, **members}


def report(*observations: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"reportId": str(uuid.uuid4()), "observations": list(observations), **members}


def environment_of(created: NewWorkspace, name: str = "production") -> Environment:
    return created.workspace.environments.get(name=name)


def deliver(api: Any, created: NewWorkspace, *observations: dict[str, Any], **members: Any) -> None:
    """Report these observations and fold them."""
    response = api.post("/api/witness-reports", report(*observations, **members))
    assert response.status_code == 202, response.content
    fold_reports(environment_of(created, members.get("environment", "production")), now=timezone.now())


def observe(api: Any, created: Any, environment: str, *bodies: tuple[int, Any]) -> None:
    """Report so many responses with each of these bodies, and fold them."""
    for count, body in bodies:
        deliver(api, created, *[observation(response=body)] * count, environment=environment)


def undo_override(client: Client, created: Any, kind: str, pk: int, **operation: str) -> Any:
    """Press the button that undoes a manual override, on the page of rules or of an operation; return the answer."""
    return client.post(f"/w/{created.workspace.slug}/production/rules/{kind}/{pk}/undo", operation)
