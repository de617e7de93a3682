"""How tests of the catalog's pages open them and read their words and tables."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.page_text import read_unescaped_html


def address(created: Any, page: str, form: str = "", environment: str = "production") -> str:
    return f"/w/{created.workspace.slug}/{environment}/{page}{form}"


def open_page(client: Any, created: Any, page: str, environment: str = "production", /, **query: str) -> str:
    response = client.get(address(created, page, environment=environment), query)
    assert response.status_code == 200, response.content
    return read_unescaped_html(response)


def read_words(page: str) -> str:
    """Return the text of a page without its tags."""
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    return re.sub(r" ([,.;)])", r"\1", words)


def load_table(
    client: Any, created: Any, page: str, table: str, environment: str = "production", /, **query: str
) -> list[dict[str, Any]]:
    response = client.get(address(created, page, ".json", environment), query)
    assert response.status_code == 200, response.content
    return json.loads(response.getvalue())["tables"][table]


def compare(client: Any, created: Any, environment: str, against: str) -> list[dict[str, Any]]:
    """Return the differences that the environment comparison lists."""
    return load_table(client, created, "difference", "difference", environment, against=against)
