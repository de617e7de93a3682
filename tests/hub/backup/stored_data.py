"""The data of a hub before a backup or a move, and the answers that the hub must give afterwards."""

from __future__ import annotations

import time
import uuid
from typing import Any

from tests.hub.hub_process import Hub
from tests.sample_data import observations

PERIOD = "from=2026-01-01&to=2030-01-01"
PAGES = {
    "catalog": ["operations"],
    "outcomes": ["keys"],
    "joins": ["broken", "healed"],
    "drift": ["drift"],
    "rejections": ["rejections"],
}
DOWNLOADS = ("/api/catalog", "/api/catalog/openapi.json", "/api/catalog/tools.json")


def start_with_data(hub: Hub) -> dict[str, Any]:
    """Start and store a conversation, outcomes, broken joins and a catalog; return the workspace with its keys."""
    created = hub.copy_workspace()
    hub.start()
    key = created["secretKey"]
    hub.request("/api/conversations", {"conversations": [{"conversationId": "c1"}]}, key=key)
    outcomes = [{"conversationId": f"c{n}", "outcomeKey": "purchase ✓"} for n in range(40)]
    assert hub.request("/api/conversation-outcomes", {"outcomes": outcomes}, key=key)[0] == 200
    report = {"reportId": str(uuid.uuid4()), "observations": observations()}
    assert hub.request("/api/witness-reports", report, key=key)[0] == 202
    deadline = time.monotonic() + 30
    while not hub.request("/api/catalog", key=key)[1]["operations"]:
        assert time.monotonic() < deadline, hub.output
        time.sleep(0.2)
    return created


def read_downloads(hub: Hub, created: dict[str, Any]) -> dict[str, Any]:
    pages = [
        f"/w/{created['slug']}/production/{name}.csv?table={table}&{PERIOD}"
        for name, tables in PAGES.items()
        for table in tables
    ]
    answers = {path: hub.request(path, key=created["secretKey"]) for path in [*pages, *DOWNLOADS]}
    assert {path: answer[0] for path, answer in answers.items() if answer[0] != 200} == {}
    return {path: answer[1] for path, answer in answers.items()}


def can_verify(hub: Hub, created: dict[str, Any]) -> bool:
    """Return whether the hub can sign and verify an intent, which needs the signing secret."""
    call = {"sub": "user_1", "operation": "GET /orders", "args": {}}
    status, answer, _ = hub.request("/api/intents", call, key=created["secretKey"])
    if status != 201:
        return False
    body = {"header": answer["header"], "method": "GET", "path": "/orders"}
    return hub.request("/api/intents/verify", body, key=created["secretKey"])[0] == 200


def assert_refused(done: Any, *words: str) -> None:
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr
