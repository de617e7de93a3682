"""Every page counts an operation's properties by the same rule."""

from __future__ import annotations

import pytest

from tests.catalog.pages import load_table, open_page, read_words
from tests.catalog.reports import observe

PATH = "/orders/{orderId}"


@pytest.mark.django_db
def test_catalog_operation_and_comparison_count_the_same_properties(api, browser_client, workspace):
    whole = {"id": 1, "note": "x", "author": {"name": "x"}}
    observe(api, workspace, "production", (60, {**whole, "old": 1}), (60, whole), (11, {"id": 1, "note": "x"}))
    observe(api, workspace, "staging", (3, whole))
    (row,) = load_table(browser_client, workspace, "catalog", "operations")
    (extent, _) = load_table(browser_client, workspace, "difference", "environments")
    columns = ("properties", "noLongerSeen", "probablyGone")
    assert [row[name] for name in columns] == [extent[name] for name in columns] == [2, 1, 2]
    catalog = read_words(open_page(browser_client, workspace, "catalog", sort="properties"))
    assert "2 1 no longer seen 2 probably gone" in catalog
    operation = read_words(open_page(browser_client, workspace, "operation", method="GET", path=PATH))
    assert "Properties 2 1 no longer seen 2 probably gone" in operation
