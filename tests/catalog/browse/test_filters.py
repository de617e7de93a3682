"""The catalog's list, narrowed to operations that drifted, have unknown types or were not seen in the period."""

from __future__ import annotations

import re
from html import unescape

import pytest

from catalog.models import Drift, OperationDay
from tests.catalog.pages import load_table, open_page
from tests.catalog.reports import deliver, environment_of, observation

pytestmark = pytest.mark.django_db
PATH = "/orders/{orderId}"
AT = 1_790_000_000  # 2026-09-21


def test_an_operation_that_was_observed_before_and_after_a_period_is_not_seen_in_it(api, workspace, browser_client):
    day = 86400
    times = [(PATH, AT), (PATH, AT + 5 * day), ("/a", AT + 2 * day), ("/b", AT + 5 * day), ("/c", AT)]
    deliver(api, workspace, *(observation(path=path, lastSeenAt=seen_at) for path, seen_at in times))

    def paths(first: int, last: int) -> list[str]:
        period = {name: f"2026-09-{21 + number}" for name, number in (("from", first), ("to", last))}
        rows = load_table(browser_client, workspace, "catalog", "operations", show="unseen", **period)
        return [row["path"] for row in rows]

    assert paths(1, 3) == ["/c", PATH]
    assert paths(2, 5) == ["/c"]
    assert paths(3, 4) == ["/a", "/c", PATH]
    OperationDay.objects.filter(day="2026-09-21").delete()
    assert paths(1, 3) == ["/c"]  # the counts of these days may have been deleted, too


def test_the_catalog_can_be_filtered_by_drifted_unknown_and_unseen_operations(browser_client, drifted_workspace):
    def paths(**query: str) -> list[str]:
        return [row["path"] for row in load_table(browser_client, drifted_workspace, "catalog", "operations", **query)]

    assert paths(show="drifted") == paths(show="unknown") == [PATH]
    assert paths(show="unseen") == []
    past = {"from": "2020-01-01", "to": "2020-01-02"}
    assert paths(show="unseen", **past) == []
    assert paths(show="drifted", **past) == paths(show="new", **past) == []
    broken = Drift.objects.filter(environment=environment_of(drifted_workspace)).exclude(breaks="")
    catalog = open_page(browser_client, drifted_workspace, "catalog")
    tags = re.findall(r'class="tag(?: bad)?" href="([^"]+/drift[^"]+)"[^>]*>(\d+) (breaking|compatible)<', catalog)
    assert [(int(count), kind) for _, count, kind in tags] == [(broken.count(), "breaking"), (1, "compatible")]
    for link, count, _ in tags:  # the number on a tag is the number of rows that its link shows
        feed = browser_client.get(unescape(link)).content.decode()
        assert feed.count('data-is="Impact"') == int(count)
    assert "breaking=1" in tags[0][0]
    assert browser_client.get(unescape(tags[0][0])).status_code == 200
    assert " breaking<" not in open_page(browser_client, drifted_workspace, "catalog", **past)
    broken.update(breaks="")
    assert ">3 compatible<" in open_page(browser_client, drifted_workspace, "catalog")
