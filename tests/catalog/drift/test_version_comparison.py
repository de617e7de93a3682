"""The comparison of any two versions of an operation."""

from __future__ import annotations

import re

import pytest

from tests.catalog.pages import load_table, open_page
from tests.catalog.reports import deliver, observation

pytestmark = pytest.mark.django_db
PATH = "/orders/{orderId}"


def test_an_operation_shows_its_versions_and_the_difference_of_any_two(browser_client, drifted_workspace):
    query = {"method": "GET", "path": PATH}
    page = open_page(browser_client, drifted_workspace, "operation", **query)
    assert "3 so far" in page
    assert "first seen" in page
    numbers = [
        row["version"] for row in load_table(browser_client, drifted_workspace, "operation", "versions", **query)
    ]
    assert numbers == [3, 2, 1]
    comparison = load_table(browser_client, drifted_workspace, "operation", "changes", before="3", after="1", **query)
    assert [(row["pointer"], row["change"], row["breaksFor"]) for row in comparison] == [
        ("/id", "type", ""),
        ("/note", "not-null", ""),
        ("/total", "gone", "consumer"),
    ]
    assert "Version 3 → 1" in open_page(browser_client, drifted_workspace, "operation", before="3", after="1", **query)
    names = load_table(browser_client, drifted_workspace, "operation", "changes", before="1", after="3", **query)
    assert [row["after"] for row in names] == ["integer or string", "string or null", "integer"]
    same = open_page(browser_client, drifted_workspace, "operation", before="2", after="2", **query)
    assert "<b> Choose two different versions: no difference </b> between version 2" in same
    page = open_page(browser_client, drifted_workspace, "operation", before="3", after="1", **query)
    assert "<b>3 changes, 1 breaking</b>, from version 3 <span" in page


def test_a_comparison_of_versions_names_the_types_of_a_field_that_was_mixed_from_the_start(
    api, browser_client, workspace
):
    deliver(api, workspace, observation(response={"id": 1}))
    deliver(api, workspace, *(observation(response={"id": 1, "tag": tag, "tags": [1, "x"]}) for tag in (1, "x", None)))
    query = {"method": "GET", "path": PATH, "before": "1", "after": "2"}
    changes = load_table(browser_client, workspace, "operation", "changes", **query)
    assert [row["after"] for row in changes] == ["integer or string or null", "array of (integer or string)"]
    drift = load_table(browser_client, workspace, "drift", "drift")
    assert sorted(row["after"] for row in drift) == sorted(row["after"] for row in changes)


def test_a_comparison_weighs_a_new_field_of_a_request_as_its_drift_does(api, browser_client, workspace):
    """Only drift knows that not every request has the field. A later change of the field must not hide this."""
    plain, with_coupon = observation("POST", PATH, request={"id": 1}), {"id": 1, "coupon": "x"}
    deliver(api, workspace, *[plain] * 10)
    deliver(api, workspace, plain, observation("POST", PATH, request=with_coupon))
    deliver(api, workspace, observation("POST", PATH, request=with_coupon | {"coupon": None}))
    query = {"method": "POST", "path": PATH, "before": "1", "after": "3"}
    rows = load_table(browser_client, workspace, "operation", "changes", **query)
    assert [(row["pointer"], row["change"], row["breaksFor"]) for row in rows] == [("/coupon", "new", "")]


def test_a_comparison_of_versions_includes_fields_no_longer_seen(api, browser_client, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x", "kind": "a"})] * 30)
    deliver(api, workspace, observation(response={"id": 1, "note": "x", "kind": "a", "total": 2}))
    deliver(api, workspace, *[observation(response={"id": 1, "total": 2})] * 90)
    deliver(api, workspace, observation(response={"id": 1, "total": 2, "kind": "a"}))
    query = {"method": "GET", "path": PATH}
    comparison = load_table(browser_client, workspace, "operation", "changes", before="1", after="2", **query)
    assert [(row["pointer"], row["change"], row["breaksFor"]) for row in comparison] == [
        ("/total", "new", ""),
        ("/note", "quiet", "consumer"),
    ]
    timeline = open_page(browser_client, workspace, "operation", **query)
    versions = timeline[timeline.index('id="versions"') :]
    assert versions.count("no longer seen") == 2  # /note, and /kind, which was seen again later
    assert versions.count("detected <time") == 3
    compared = open_page(browser_client, workspace, "operation", before="1", after="2", **query)
    assert "2 changes, 1 breaking" in compared
    assert re.findall(r", (3 properties)(?:,\s+(1 no longer seen))?\)", compared) == [
        ("3 properties", ""),
        ("3 properties", "1 no longer seen"),  # one property was added, and one is no longer seen
    ]
    assert re.search(r'<div class="v">3</div>\s*<div class="d soft">1 no longer seen', compared)
    assert "Shape now, version" in compared
    back = load_table(browser_client, workspace, "operation", "changes", before="2", after="1", **query)
    assert [(row["pointer"], row["change"]) for row in back] == [("/total", "gone")]


@pytest.mark.parametrize("before", ["9", "", "x", "-1", "9" * 30])
def test_versions_that_do_not_exist_are_left_out(browser_client, drifted_workspace, before):
    page = open_page(browser_client, drifted_workspace, "operation", method="GET", path=PATH, before=before, after="1")
    assert "3 so far" in page
    assert (f"This page does not know before={before}, and" in page) == (before != "")


def test_without_a_version_to_compare_with_no_changes_are_exported(browser_client, drifted_workspace):
    query = {"method": "GET", "path": PATH, "before": "", "after": "1"}
    assert load_table(browser_client, drifted_workspace, "operation", "changes", **query) == []
