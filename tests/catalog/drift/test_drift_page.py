"""The feed of drift, the timeline of an operation, and the difference of two environments."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from catalog.drift import views
from catalog.models import Drift, OperationDay, OperationVersion
from tests.catalog.reports import deliver, environment_of, observation

pytestmark = pytest.mark.django_db
PATH = "/orders/{orderId}"
AT = 1_790_000_000  # 2026-09-21


@pytest.fixture
def filled_workspace(api: Any, workspace: Any) -> Any:
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x"})] * 30, observation("GET", "/health", 204))
    deliver(api, workspace, observation(response={"id": 1, "note": "x", "total": 2}))
    deliver(api, workspace, observation(response={"id": "1", "note": None}))
    return workspace


def address(created: Any, page: str, form: str = "") -> str:
    return f"/w/{created.workspace.slug}/production/{page}{form}"


def open_page(client: Any, created: Any, name: str, **query: str) -> str:
    response = client.get(address(created, name), query)
    assert response.status_code == 200, response.content
    return " ".join(response.content.decode().split())


def list_rows(client: Any, created: Any, name: str, table: str, **query: str) -> list[dict[str, Any]]:
    response = client.get(address(created, name, ".json"), query)
    assert response.status_code == 200
    return json.loads(b"".join(response.streaming_content))["tables"][table]


def list_changes(client: Any, created: Any, **query: str) -> list[tuple[str, str]]:
    return [(row["pointer"], row["change"]) for row in list_rows(client, created, "drift", "drift", **query)]


def test_the_feed_of_one_operation_leaves_out_the_operations_below_its_path(browser_client, api, workspace):
    for path in ("/books", "/books/{bookId}"):
        deliver(api, workspace, *[observation("GET", path, response={"id": 1})] * 30)
        deliver(api, workspace, observation("GET", path, response={"id": "x"}))
    rows = list_rows(browser_client, workspace, "drift", "drift", method="GET", path="/books")
    assert [row["path"] for row in rows] == ["/books"]
    assert list_rows(browser_client, workspace, "drift", "drift", method="POST", path="/books") == []
    catalog = open_page(browser_client, workspace, "catalog")
    link = next(part for part in catalog.split('"') if "/drift?" in part and "breaking=1" in part)
    assert browser_client.get(unescape(link)).content.decode().count('data-is="Impact"') == 1


def test_the_feed_says_between_which_times_a_change_began(browser_client, filled_workspace):
    """A report may sum up several hours. The change may have begun at any time in them."""
    detected = timezone.now().replace(second=50)
    Drift.objects.update(at=detected, since=detected - timedelta(hours=19))
    times = r"between</span> <time[^>]*>[^<]+</time><br> <span class=\"soft\">and</span> <time[^>]*>[^<]+</time>"
    page = open_page(browser_client, filled_workspace, "drift")
    assert len(re.findall(times, page)) == 3
    assert "Since" not in page
    Drift.objects.update(since=detected - timedelta(seconds=40))
    page = open_page(browser_client, filled_workspace, "drift")
    assert not re.search(times, page)


def test_an_operation_dates_its_versions_by_when_they_were_detected(browser_client, filled_workspace):
    OperationVersion.objects.update(since=timezone.now() - timedelta(hours=19))
    Drift.objects.update(since=timezone.now() - timedelta(hours=19))
    page = open_page(browser_client, filled_workspace, "operation", method="GET", path=PATH)
    assert "19 h ago" not in page


def test_the_feed_shows_what_changed_where_and_whom_it_breaks(browser_client, filled_workspace):
    page = open_page(browser_client, filled_workspace, "drift")
    assert "3 in this period, 2 breaking: 2 fields broken, 2 of them neither acknowledged nor muted" in page
    assert re.search(r"</span> → string", page)
    (latest, *_) = list_rows(browser_client, filled_workspace, "drift", "drift")
    assert latest == {
        "id": latest["id"], "at": latest["at"], "since": latest["since"], "method": "GET", "path": PATH, "version": 3,
        "part": "200",
        "pointer": "/note", "change": "nullable", "before": "string", "after": "string or null",
        "breaksFor": "consumer", "seen": 1, "of": 1, "matching": 1, "values": 32, "lastDay": None,
        "acknowledgedAt": None, "acknowledgedBy": None, "mutedUntil": None,
    }  # fmt: skip


def test_the_feed_does_not_say_of_them_of_one_broken_field(browser_client, filled_workspace):
    page = " ".join(open_page(browser_client, filled_workspace, "drift", kind="nullable").split())
    assert "1 in this period matching the filters, 1 breaking: 1 field broken, neither acknowledged nor muted" in page
    change = Drift.objects.get(kind="nullable")
    address = f"/w/{filled_workspace.workspace.slug}/production/change/{change.pk}/acknowledgement"
    assert browser_client.post(address).status_code == 303
    page = " ".join(open_page(browser_client, filled_workspace, "drift", kind="nullable").split())
    assert "1 breaking: 1 field broken, acknowledged or muted" in page


def test_a_change_of_type_says_how_many_values_have_the_new_type(api, browser_client, workspace):
    """A single string among hundreds of values may be an accident. Whoever reads "breaking" has to see the numbers."""
    deliver(api, workspace, *[observation(response={"placedAt": 1, "refund": None})] * 142)
    deliver(api, workspace, observation(response={"placedAt": "x", "refund": {"amount": 2}}))
    rows = list_rows(browser_client, workspace, "drift", "drift", breaking="1")
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


def test_the_overview_says_how_long_a_property_was_absent(api, browser_client, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x"})] * 30)
    deliver(api, workspace, *[observation(response={"id": 1})] * 30)
    assert "absent 30 times in a row when detected" in open_page(browser_client, workspace, "overview")


def test_a_property_no_longer_seen_shows_the_day_it_was_last_seen(api, browser_client, workspace):
    noon = 1_790_000_000 // 86400 * 86400 + 43200
    seen, missing = observation(response={"id": 1, "note": "x"}), observation(response={"id": 1})
    deliver(api, workspace, *[{**seen, "lastSeenAt": noon}] * 30)
    deliver(api, workspace, *[{**missing, "lastSeenAt": noon + 86400}] * 30)
    (row,) = list_rows(browser_client, workspace, "drift", "drift", kind="quiet")
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
def test_filters_and_range_apply_to_the_page_and_its_downloads(browser_client, filled_workspace, query, expected):
    assert sorted(list_changes(browser_client, filled_workspace, **query)) == sorted(expected)
    response = browser_client.get(address(filled_workspace, "drift", ".csv"), query)
    exported_rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(exported_rows) == len(expected)
    page = open_page(browser_client, filled_workspace, "drift", **query)
    assert ("No matching changes" in page or "No changes in this period" in page) is (not expected)


def test_htmx_gets_the_feed_alone(browser_client, filled_workspace):
    response = browser_client.get(address(filled_workspace, "drift"), headers={"HX-Request": "true"})
    assert response.content.startswith(b"<section")


def test_a_long_feed_is_paged_and_counted(browser_client, filled_workspace, monkeypatch):
    monkeypatch.setattr(views, "ROWS_PER_PAGE", 2)
    assert "1 to 2 of 3" in open_page(browser_client, filled_workspace, "drift")
    assert "3 to 3 of 3" in open_page(browser_client, filled_workspace, "drift", page="2")
    assert len(list_changes(browser_client, filled_workspace, page="2")) == 3


def test_a_period_before_all_data_is_not_shown_as_matching(browser_client, filled_workspace):
    page = open_page(browser_client, filled_workspace, "drift", **{"from": "2020-01-01", "to": "2020-01-02"})
    assert "Nothing was observed in it: the first observation is of" in page
    assert "Everything reported matches" not in page
    Drift.objects.all().delete()
    assert "Everything reported matches" in open_page(browser_client, filled_workspace, "drift")


def test_an_empty_feed_says_what_will_be_here(browser_client, workspace):
    assert "No operations observed yet" in open_page(browser_client, workspace, "drift")


def test_an_operation_shows_its_versions_and_the_difference_of_any_two(browser_client, filled_workspace):
    query = {"method": "GET", "path": PATH}
    page = open_page(browser_client, filled_workspace, "operation", **query)
    assert "3 so far" in page
    assert "first seen" in page
    numbers = [row["version"] for row in list_rows(browser_client, filled_workspace, "operation", "versions", **query)]
    assert numbers == [3, 2, 1]
    comparison = list_rows(browser_client, filled_workspace, "operation", "changes", before="3", after="1", **query)
    assert [(row["pointer"], row["change"], row["breaksFor"]) for row in comparison] == [
        ("/id", "type", ""),
        ("/note", "not-null", ""),
        ("/total", "gone", "consumer"),
    ]
    assert "Version 3 → 1" in open_page(browser_client, filled_workspace, "operation", before="3", after="1", **query)
    names = list_rows(browser_client, filled_workspace, "operation", "changes", before="1", after="3", **query)
    assert [row["after"] for row in names] == ["integer or string", "string or null", "integer"]
    same = open_page(browser_client, filled_workspace, "operation", before="2", after="2", **query)
    assert "<b> Choose two different versions: no difference </b> between version 2" in same
    page = open_page(browser_client, filled_workspace, "operation", before="3", after="1", **query)
    assert "<b>3 changes, 1 breaking</b>, from version 3 <span" in page


def test_a_comparison_of_versions_names_the_types_of_a_field_that_was_mixed_from_the_start(
    api, browser_client, workspace
):
    deliver(api, workspace, observation(response={"id": 1}))
    deliver(api, workspace, *(observation(response={"id": 1, "tag": tag, "tags": [1, "x"]}) for tag in (1, "x", None)))
    query = {"method": "GET", "path": PATH, "before": "1", "after": "2"}
    changes = list_rows(browser_client, workspace, "operation", "changes", **query)
    assert [row["after"] for row in changes] == ["integer or string or null", "array of (integer or string)"]
    drift = list_rows(browser_client, workspace, "drift", "drift")
    assert sorted(row["after"] for row in drift) == sorted(row["after"] for row in changes)


def test_a_comparison_weighs_a_new_field_of_a_request_as_its_drift_does(api, browser_client, workspace):
    """Only drift knows that not every request has the field. A later change of the field must not hide this."""
    plain, with_coupon = observation("POST", PATH, request={"id": 1}), {"id": 1, "coupon": "x"}
    deliver(api, workspace, *[plain] * 10)
    deliver(api, workspace, plain, observation("POST", PATH, request=with_coupon))
    deliver(api, workspace, observation("POST", PATH, request=with_coupon | {"coupon": None}))
    query = {"method": "POST", "path": PATH, "before": "1", "after": "3"}
    rows = list_rows(browser_client, workspace, "operation", "changes", **query)
    assert [(row["pointer"], row["change"], row["breaksFor"]) for row in rows] == [("/coupon", "new", "")]


def test_a_comparison_of_versions_includes_fields_no_longer_seen(api, browser_client, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x", "kind": "a"})] * 30)
    deliver(api, workspace, observation(response={"id": 1, "note": "x", "kind": "a", "total": 2}))
    deliver(api, workspace, *[observation(response={"id": 1, "total": 2})] * 90)
    deliver(api, workspace, observation(response={"id": 1, "total": 2, "kind": "a"}))
    query = {"method": "GET", "path": PATH}
    comparison = list_rows(browser_client, workspace, "operation", "changes", before="1", after="2", **query)
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
    back = list_rows(browser_client, workspace, "operation", "changes", before="2", after="1", **query)
    assert [(row["pointer"], row["change"]) for row in back] == [("/total", "gone")]


def test_a_version_has_the_same_date_on_the_pages_of_the_operation_and_the_property(api, browser_client, workspace):
    """A report can arrive a day or more after its traffic."""
    yesterday = timezone.now().timestamp() - 86_400
    for body in ({"id": 1}, {"id": "x"}):
        deliver(api, workspace, *[observation(response=body, lastSeenAt=yesterday)] * 30)
    query = {"method": "GET", "path": PATH}
    operation = open_page(browser_client, workspace, "operation", **query).partition('id="versions"')[2]
    history = open_page(browser_client, workspace, "property", part="200", at="/id", **query).partition('id="history"')[
        2
    ]
    dates = [re.findall(r'<time datetime="([^"]+)"', page)[0] for page in (operation, history)]
    assert dates[0] == dates[1]


def test_the_timeline_shows_the_change_of_a_manual_override(api, browser_client, workspace):
    deliver(api, workspace, observation(response={"by": {"one": 1, "two": 2}}))
    address_of_maps = address(workspace, "operation/maps")
    form = {"method": "GET", "path": PATH, "part": "200", "pointer": "/by", "as": "map"}
    assert browser_client.post(address_of_maps, form).status_code in (302, 303)
    page = open_page(browser_client, workspace, "operation", method="GET", path=PATH)
    versions = page[page.index('id="versions"') :]
    assert "manual override" in versions
    assert "<code>/by</code>" in versions


@pytest.mark.parametrize("before", ["9", "", "x", "-1", "9" * 30])
def test_versions_that_do_not_exist_are_left_out(browser_client, filled_workspace, before):
    page = open_page(browser_client, filled_workspace, "operation", method="GET", path=PATH, before=before, after="1")
    assert "3 so far" in page
    assert (f"This page does not know before={before}, and" in page) == (before != "")


def test_without_a_version_to_compare_with_no_changes_are_exported(browser_client, filled_workspace):
    query = {"method": "GET", "path": PATH, "before": "", "after": "1"}
    assert list_rows(browser_client, filled_workspace, "operation", "changes", **query) == []


def test_the_difference_lists_what_would_change_from_this_environment_to_the_other(
    api, browser_client, filled_workspace
):
    deliver(
        api,
        filled_workspace,
        *[observation(path="/orders/{id}", response={"id": "x"})] * 3,
        observation("PUT", "/new", 200),
        environment="staging",
    )
    differences = list_rows(browser_client, filled_workspace, "difference", "difference", against="staging")
    assert [(row["method"], row["path"], row["part"], row["pointer"], row["change"]) for row in differences] == [
        ("GET", "/health", "operation", "", "gone"),
        ("PUT", "/new", "operation", "", "new"),
        ("GET", PATH, "path", "/id", "renamed"),
        ("GET", PATH, "200", "/id", "type"),
        ("GET", PATH, "200", "/note", "gone"),
        ("GET", PATH, "200", "/total", "gone"),
    ]
    page = open_page(browser_client, filled_workspace, "difference", against="staging")
    assert "<b> Deploying staging to production would break 1 field for clients of production. </b>" in page
    assert "3 certain differences. 3 more need more calls to tell, 2 of them may break clients, too." in page


def test_a_property_that_is_no_longer_seen_is_missing_in_the_difference(api, browser_client, workspace):
    line = {"lines": [{"price": 1, "note": "x"}]}
    for environment in ("production", "staging"):
        deliver(api, workspace, *[observation(response={"id": 1, **line}, count=1)] * 30, environment=environment)
    assert list_rows(browser_client, workspace, "difference", "difference") == []
    deliver(api, workspace, *[observation(response={"id": 1, "lines": [{"price": 1}]}, count=1)] * 30)
    (row,) = list_rows(browser_client, workspace, "difference", "difference", against="staging")
    assert (row["part"], row["pointer"], row["change"]) == ("200", "/lines/[]/note", "new")
    back = f"/w/{workspace.workspace.slug}/staging/difference.json"
    (row,) = json.loads(browser_client.get(back, {"against": "production"}).getvalue())["tables"]["difference"]
    assert (row["part"], row["pointer"], row["change"]) == ("200", "/lines/[]/note", "gone")
    deliver(api, workspace, *[observation(response={"id": 1}, count=1)] * 30, environment="staging")
    deliver(api, workspace, *[observation(response={"id": 1}, count=1)] * 30)
    assert list_rows(browser_client, workspace, "difference", "difference") == []


def test_the_difference_names_the_types_of_a_mixed_field(api, browser_client, workspace):
    deliver(api, workspace, *(observation(response={"placedAt": value}) for value in (1, "x")))
    deliver(api, workspace, observation(response={"placedAt": 1}), environment="staging")
    (row,) = list_rows(browser_client, workspace, "difference", "difference", against="staging")
    assert (row["pointer"], row["before"], row["after"]) == ("/placedAt", "integer or string", "integer")


def test_two_environments_with_the_same_shapes_do_not_differ(api, browser_client, workspace):
    for environment, count in (("production", 3), ("staging", 1)):
        deliver(api, workspace, observation(response={"id": 1}, count=count), environment=environment)
    assert list_rows(browser_client, workspace, "difference", "difference") == []
    page = open_page(browser_client, workspace, "difference", against="nowhere")
    assert "<b>No differences</b> between production and staging." in page
    for environment in ("production", "staging"):
        row = page.partition(f'<th scope="row">{environment}</th>')[2].partition("</tr>")[0]
        assert re.findall(r'class="num">(\d+)<', row) == ["1", "1", "0", "0"]
        assert row.count("<time ") == 2


@pytest.mark.parametrize(
    ("observed", "unobserved"),
    [(["production"], "staging"), (["staging"], "production"), ([], "production and staging")],
)
def test_an_environment_that_observed_nothing_is_not_compared(api, browser_client, workspace, observed, unobserved):
    for environment in observed:
        deliver(api, workspace, observation(response={"id": 1}), environment=environment)
    page = open_page(browser_client, workspace, "difference", against="staging")
    assert "Nothing observed yet" in page
    assert f"No operations have been observed in {unobserved}." in page
    assert "No differences" not in page
    assert "in all" not in page
    assert list_rows(browser_client, workspace, "difference", "difference", against="staging") == []


@pytest.mark.parametrize("page", ["drift", "difference"])
def test_an_outsider_finds_no_page(client, filled_workspace, other_workspace, page):
    client.force_login(get_user_model().objects.create_user("outsider"))
    assert client.get(address(filled_workspace, page)).status_code == 404
    stranger = {"x-service-api-key": other_workspace.full_key}
    assert client.get(address(filled_workspace, page, ".json"), headers=stranger).status_code == 404


def test_an_operation_that_was_observed_before_and_after_a_period_is_not_seen_in_it(api, workspace, browser_client):
    day = 86400
    times = [(PATH, AT), (PATH, AT + 5 * day), ("/a", AT + 2 * day), ("/b", AT + 5 * day), ("/c", AT)]
    deliver(api, workspace, *(observation(path=path, lastSeenAt=seen_at) for path, seen_at in times))

    def paths(first: int, last: int) -> list[str]:
        period = {name: f"2026-09-{21 + number}" for name, number in (("from", first), ("to", last))}
        rows = list_rows(browser_client, workspace, "catalog", "operations", show="unseen", **period)
        return [row["path"] for row in rows]

    assert paths(1, 3) == ["/c", PATH]
    assert paths(2, 5) == ["/c"]
    assert paths(3, 4) == ["/a", "/c", PATH]
    OperationDay.objects.filter(day="2026-09-21").delete()
    assert paths(1, 3) == ["/c"]  # the counts of these days may have been deleted, too


def test_the_catalog_can_be_filtered_by_drifted_unknown_and_unseen_operations(browser_client, filled_workspace):
    def paths(**query: str) -> list[str]:
        return [row["path"] for row in list_rows(browser_client, filled_workspace, "catalog", "operations", **query)]

    assert paths(show="drifted") == paths(show="unknown") == [PATH]
    assert paths(show="unseen") == []
    past = {"from": "2020-01-01", "to": "2020-01-02"}
    assert paths(show="unseen", **past) == []
    assert paths(show="drifted", **past) == paths(show="new", **past) == []
    broken = Drift.objects.filter(environment=environment_of(filled_workspace)).exclude(breaks="")
    catalog = open_page(browser_client, filled_workspace, "catalog")
    tags = re.findall(r'class="tag(?: bad)?" href="([^"]+/drift[^"]+)"[^>]*>(\d+) (breaking|compatible)<', catalog)
    assert [(int(count), kind) for _, count, kind in tags] == [(broken.count(), "breaking"), (1, "compatible")]
    for link, count, _ in tags:  # the number on a tag is the number of rows that its link shows
        feed = browser_client.get(unescape(link)).content.decode()
        assert feed.count('data-is="Impact"') == int(count)
    assert "breaking=1" in tags[0][0]
    assert browser_client.get(unescape(tags[0][0])).status_code == 200
    assert " breaking<" not in open_page(browser_client, filled_workspace, "catalog", **past)
    broken.update(breaks="")
    assert ">3 compatible<" in open_page(browser_client, filled_workspace, "catalog")
