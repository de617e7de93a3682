"""The part of the catalog's page about operations beyond MAX_OPERATIONS, and its table."""

from __future__ import annotations

from typing import Any

import pytest

from tests.catalog.reports import deliver, observation

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _limit(settings: Any) -> None:
    settings.MAX_OPERATIONS = 3


def observations(*names: str, count: int = 1) -> list[dict[str, Any]]:
    return [observation(path=f"/{name}", count=count, response={"id": 1}) for name in names]


def test_the_page_shows_the_limit_and_how_to_make_room(api, workspace, browser_client):
    deliver(api, workspace, *observations("a", "b", "c", "users/x", "users/y", "d", count=4))
    page = browser_client.get(f"/w/{workspace.workspace.slug}/production/catalog").content.decode()
    assert "3 operations not shown" in " ".join(page.split())
    assert "12 observations" in page
    assert "MAX_OPERATIONS" in page
    assert "<code>GET /users…</code>" in page


def test_the_page_does_not_mention_a_limit_that_is_not_reached(api, workspace, browser_client):
    deliver(api, workspace, *observations("a", "b", "c"))
    page = browser_client.get(f"/w/{workspace.workspace.slug}/production/catalog").content.decode()
    assert "MAX_OPERATIONS" not in page


def test_operations_beyond_the_limit_are_a_table_of_the_page(api, workspace, browser_client):
    deliver(api, workspace, *observations(*"abcdefgh"))
    tables = browser_client.get(f"/w/{workspace.workspace.slug}/production/catalog.json")
    body = b"".join(tables.streaming_content)
    assert b'"path": "/d", "observations": 1' in body
    assert b'"method": "", "path": "", "observations": 2' in body
