"""A query or form may be an object in some reports only. Every download and page of its operation still answers."""

from __future__ import annotations

import pytest

from tests.catalog.reports import deliver, observation

UNKNOWN = {"type": "unknown", "reason": "divergent", "properties": {"q": {"type": "string"}}}
DOWNLOADS = (
    "/api/catalog", "/api/catalog/openapi.json", "/api/catalog/schemas.json", "/api/catalog/tools.json",
    "/api/catalog/tools.json?format=openai", "/api/catalog/tools.json?format=anthropic", "/api/catalog/mcp.json",
)  # fmt: skip


@pytest.mark.parametrize("reason", ["divergent", "limit"])
@pytest.mark.parametrize("part", ["query", "request"])
def test_downloads_and_pages_answer(api, browser_client, workspace, part, reason):
    members = {"requestMediaType": "application/x-www-form-urlencoded"} if part == "request" else {}
    unknown = {**observation("POST", "/q", 200), part: {**UNKNOWN, "reason": reason}, **members}
    deliver(api, workspace, unknown)
    if part == "request":
        deliver(api, workspace, {**unknown, "request": {"type": "string"}})
    for address in DOWNLOADS:
        response = api.get(address)
        assert response.status_code == 200, address
    page = f"/w/{workspace.workspace.slug}/production/operation?method=POST&path=/q"
    assert browser_client.get(page).status_code == 200
    assert browser_client.get(f"{page}&part={part}").status_code == 200
