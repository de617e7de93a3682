"""The feed of drift: what changed, where, since when, and whom it breaks."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from catalog.drift import views
from catalog.models import Drift
from tests.catalog.pages import address, load_table, open_page
from tests.catalog.reports import deliver, observation

pytestmark = pytest.mark.django_db
PATH = "/orders/{orderId}"


def list_changes(client: Any, created: Any, **query: str) -> list[tuple[str, str]]:
    return [(row["pointer"], row["change"]) for row in load_table(client, created, "drift", "drift", **query)]


def test_the_feed_of_one_operation_leaves_out_the_operations_below_its_path(browser_client, api, workspace):
    for path in ("/books", "/books/{bookId}"):
        deliver(api, workspace, *[observation("GET", path, response={"id": 1})] * 30)
        deliver(api, workspace, observation("GET", path, response={"id": "x"}))
    rows = load_table(browser_client, workspace, "drift", "drift", method="GET", path="/books")
    assert [row["path"] for row in rows] == ["/books"]
    assert load_table(browser_client, workspace, "drift", "drift", method="POST", path="/books") == []
    catalog = open_page(browser_client, workspace, "catalog")
    link = next(part for part in catalog.split('"') if "/drift?" in part and "breaking=1" in part)
    assert browser_client.get(unescape(link)).content.decode().count('data-is="Impact"') == 1


def test_the_feed_says_between_which_times_a_change_began(browser_client, drifted_workspace):
    """A report may sum up several hours. The change may have begun at any time in them."""
    detected = timezone.now().replace(second=50)
    Drift.objects.update(at=detected, since=detected - timedelta(hours=19))
    times = r"between</span> <time[^>]*>[^<]+</time><br> <span class=\"soft\">and</span> <time[^>]*>[^<]+</time>"
    page = open_page(browser_client, drifted_workspace, "drift")
    assert len(re.findall(times, page)) == 3
    assert "Since" not in page
    Drift.objects.update(since=detected - timedelta(seconds=40))
    page = open_page(browser_client, drifted_workspace, "drift")
    assert not re.search(times, page)


def test_the_feed_shows_what_changed_where_and_whom_it_breaks(browser_client, drifted_workspace):
    page = open_page(browser_client, drifted_workspace, "drift")
    assert "3 in this period, 2 breaking: 2 fields broken, 2 of them neither acknowledged nor muted" in page
    assert re.search(r"</span> → string", page)
    (latest, *_) = load_table(browser_client, drifted_workspace, "drift", "drift")
    assert latest == {
        "id": latest["id"], "at": latest["at"], "since": latest["since"], "method": "GET", "path": PATH, "version": 3,
        "part": "200",
        "pointer": "/note", "change": "nullable", "before": "string", "after": "string or null",
        "breaksFor": "consumer", "seen": 1, "of": 1, "matching": 1, "values": 32, "lastDay": None,
        "acknowledgedAt": None, "acknowledgedBy": None, "mutedUntil": None,
    }  # fmt: skip


def test_the_feed_does_not_say_of_them_of_one_broken_field(browser_client, drifted_workspace):
    page = " ".join(open_page(browser_client, drifted_workspace, "drift", kind="nullable").split())
    assert "1 in this period matching the filters, 1 breaking: 1 field broken, neither acknowledged nor muted" in page
    change = Drift.objects.get(kind="nullable")
    address = f"/w/{drifted_workspace.workspace.slug}/production/change/{change.pk}/acknowledgement"
    assert browser_client.post(address).status_code == 303
    page = " ".join(open_page(browser_client, drifted_workspace, "drift", kind="nullable").split())
    assert "1 breaking: 1 field broken, acknowledged or muted" in page


def test_a_change_of_type_says_how_many_values_have_the_new_type(api, browser_client, workspace):
    """A single string among hundreds of values may be an accident. Whoever reads "breaking" has to see the numbers."""
    deliver(api, workspace, *[observation(response={"placedAt": 1, "refund": None})] * 142)
    deliver(api, workspace, observation(response={"placedAt": "x", "refund": {"amount": 2}}))
    rows = load_table(browser_client, workspace, "drift", "drift", breaking="1")
    assert {row["pointer"]: (row["matching"], row["values"]) for row in rows} == {
        "/placedAt": (1, 143),
        "/refund": (1, 143),
    }
    for name in ("drift", "overview"):
        page = open_page(browser_client, workspace, name)
        assert "1 string in 1 value</span> when detected, none in the 142 before" in page
        assert "1 object in 1 value</span> when detected, null in all 142 before, so callers may rely on null" in page
    change = open_page(browser_client, workspace, "change", id=str(rows[0]["id"]))
    assert "in 1 value when detected</b>, null in all 142 before, so callers may rely on null" in change


@pytest.mark.parametrize(
    ("later", "words"), [(["x"], "string"), (["x", "y"], "string"), (["x", 1], "integer or string")]
)
def test_a_type_that_each_value_has_since_the_change_is_named_alone(api, browser_client, workspace, later, words):
    deliver(api, workspace, *[observation(response={"placedAt": 1})] * 30)
    deliver(api, workspace, *[observation(response={"placedAt": value}) for value in later])
    assert f">integer</span> → {words} </a>" in open_page(browser_client, workspace, "drift")


@pytest.mark.parametrize(("nulls", "why"), [(20, "so callers may rely on null"), (17, "too few to rely on null")])
def test_a_row_says_why_the_end_of_null_is_breaking_or_not(api, browser_client, workspace, nulls, why):
    deliver(api, workspace, *[observation(response={"coupon": None})] * nulls)
    deliver(api, workspace, observation(response={"coupon": "x"}))
    page = open_page(browser_client, workspace, "drift")
    assert f"null in all {nulls} before, {why}" in page
    assert ("Breaking for consumers" in page) is (nulls == 20)


def test_a_property_no_longer_seen_shows_the_day_it_was_last_seen(api, browser_client, workspace):
    noon = 1_790_000_000 // 86400 * 86400 + 43200
    seen, missing = observation(response={"id": 1, "note": "x"}), observation(response={"id": 1})
    deliver(api, workspace, *[{**seen, "lastSeenAt": noon}] * 30)
    deliver(api, workspace, *[{**missing, "lastSeenAt": noon + 86400}] * 30)
    (row,) = load_table(browser_client, workspace, "drift", "drift", kind="quiet")
    assert (row["pointer"], row["since"], row["lastDay"]) == ("/note", None, "2026-09-21")
    assert re.search(r"last seen on</span> <span title=[^>]*>Mon 21 Sep", open_page(browser_client, workspace, "drift"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, [("/note", "nullable"), ("/id", "type"), ("/total", "new")]),
        ({"breaking": "1"}, [("/note", "nullable"), ("/id", "type")]),
        ({"breaking": "no"}, [("/total", "new")]),
        ({"kind": "new"}, [("/total", "new")]),
        ({"kind": ""}, [("/note", "nullable"), ("/id", "type"), ("/total", "new")]),
        ({"q": "ORDERS total"}, [("/total", "new")]),
        ({"q": "nothing\0"}, []),
        ({"from": "2020-01-01", "to": "2020-01-02"}, []),
    ],
)
def test_filters_and_range_apply_to_the_page_and_its_downloads(browser_client, drifted_workspace, query, expected):
    assert sorted(list_changes(browser_client, drifted_workspace, **query)) == sorted(expected)
    response = browser_client.get(address(drifted_workspace, "drift", ".csv"), query)
    exported_rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(exported_rows) == len(expected)
    page = open_page(browser_client, drifted_workspace, "drift", **query)
    assert ("No matching changes" in page or "No changes in this period" in page) is (not expected)


def test_htmx_gets_the_feed_alone(browser_client, drifted_workspace):
    response = browser_client.get(address(drifted_workspace, "drift"), headers={"HX-Request": "true"})
    assert response.content.startswith(b"<section")


def test_a_long_feed_is_paged_and_counted(browser_client, drifted_workspace, monkeypatch):
    monkeypatch.setattr(views, "ROWS_PER_PAGE", 2)
    assert "1 to 2 of 3" in open_page(browser_client, drifted_workspace, "drift")
    assert "3 to 3 of 3" in open_page(browser_client, drifted_workspace, "drift", page="2")
    assert len(list_changes(browser_client, drifted_workspace, page="2")) == 3


def test_a_period_before_all_data_is_not_shown_as_matching(browser_client, drifted_workspace):
    page = open_page(browser_client, drifted_workspace, "drift", **{"from": "2020-01-01", "to": "2020-01-02"})
    assert "Nothing was observed in it: the first observation is of" in page
    assert "Everything reported matches" not in page
    Drift.objects.all().delete()
    assert "Everything reported matches" in open_page(browser_client, drifted_workspace, "drift")


def test_an_empty_feed_says_what_will_be_here(browser_client, workspace):
    assert "No operations observed yet" in open_page(browser_client, workspace, "drift")


@pytest.mark.parametrize("page", ["drift", "difference"])
def test_an_outsider_finds_no_page(client, drifted_workspace, other_workspace, page):
    client.force_login(get_user_model().objects.create_user("outsider"))
    assert client.get(address(drifted_workspace, page)).status_code == 404
    stranger = {"x-service-api-key": other_workspace.full_key}
    assert client.get(address(drifted_workspace, page, ".json"), headers=stranger).status_code == 404
