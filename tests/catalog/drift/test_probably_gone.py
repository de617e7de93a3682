"""Every page says that a property is probably gone while drift does not report it yet, and all agree on which."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from tests.catalog.reports import deliver, observation

pytestmark = pytest.mark.django_db
BOOK = "/books/{bookId}"
WORDS = "not in the latest 17, in all 60 before"


def observe(api: Any, created: Any, path: str, *bodies: tuple[int, Any], **members: Any) -> None:
    for count, body in bodies:
        deliver(api, created, *[observation("GET", path, response=body, **members)] * count)


@pytest.fixture
def renamed(api: Any, workspace: Any) -> Any:
    """Return a workspace in which one release renamed /pages of a book, too few calls ago for drift to report it."""
    observe(api, workspace, BOOK, (60, {"id": 1, "pages": 9}), (17, {"id": 1, "pageCount": 9}))
    observe(api, workspace, "/authors", (60, {"id": 1}))
    return workspace


def open_page(client: Any, created: Any, page: str, **query: Any) -> str:
    response = client.get(f"/w/{created.workspace.slug}/production/{page}", query)
    assert response.status_code == 200
    return unescape(" ".join(response.content.decode().split()))


def load_table(client: Any, created: Any, page: str, table: str, **query: str) -> list[dict[str, Any]]:
    response = client.get(f"/w/{created.workspace.slug}/production/{page}.json", query)
    return json.loads(response.getvalue())["tables"][table]


def test_the_tree_of_the_operation_marks_it(browser_client, renamed):
    page = open_page(browser_client, renamed, "operation", method="GET", path=BOOK)
    assert f'<span class="tag bad">probably gone</span> <span class="soft"> {WORDS} </span>' in page
    assert page.count("probably gone</span>") == 1
    assert '<span class="phone">last</span>' in page.partition("probably gone</span>")[2].partition("pageCount")[0]


def test_the_catalog_counts_it(browser_client, renamed):
    page = open_page(browser_client, renamed, "catalog")
    cells = re.findall(r'data-is="Properties" class="num">(.*?)</td>', page)
    assert [" ".join(re.sub(r"<.*?>", "", cell).split()) for cell in cells] == ["1", "3 1 probably gone"]
    rows = load_table(browser_client, renamed, "catalog", "operations")
    assert [(row["path"], row["probablyGone"]) for row in rows] == [("/authors", 0), (BOOK, 1)]
    assert rows[1]["properties"] == 3
