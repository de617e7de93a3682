"""One property's page: its history, its presence by day, what replaced it, and where else its name occurs."""

from __future__ import annotations

import json
import re
from copy import copy
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.utils import timezone

from affidavit import Evidence, infer
from catalog.browse.properties import history as property_history
from catalog.browse.properties import same_name
from catalog.browse.properties.presence_by_day import narrow_state
from catalog.models import Drift, Operation
from catalog.rules.baseline_resets import reset_baseline, undo_baseline_reset
from tests.catalog.reports import deliver, environment_of, observation
from tests.page_text import read_unescaped_html
from workspaces.models import Membership

pytestmark = pytest.mark.django_db
PATH = "/orders/{orderId}"
DAY = 86_400
FIRST = 1_790_000_000 // DAY * DAY + DAY // 2
RANGE = {"from": "2026-09-20", "to": "2026-09-30"}
ALL_TIME = {"from": "", "to": "", "range": "all"}


@pytest.fixture
def start(api: Any, workspace: Any) -> str:
    """Return the address of an environment in which `notice` replaced `note` on the second of two days."""
    before = observation(response={"id": 1, "note": "x"}, count=1)
    after = observation(response={"id": 1, "notice": "x"}, count=1)
    deliver(api, workspace, *[{**before, "lastSeenAt": FIRST}] * 30)
    deliver(api, workspace, *[{**after, "lastSeenAt": FIRST + DAY}] * 30)
    deliver(api, workspace, observation("GET", "/cart", response={"lines": [{"note": None}], "%": 1}))
    return f"/w/{workspace.workspace.slug}/production"


def open_page(client: Any, start: str, pointer: str, **query: str) -> str:
    members = {"method": "GET", "path": PATH, "part": "200", "at": pointer, **RANGE, **query}
    response = client.get(f"{start}/property", members)
    assert response.status_code == 200, response.content
    return read_unescaped_html(response)


def load_tables(client: Any, start: str, pointer: str, **query: str) -> Any:
    members = {"method": "GET", "path": PATH, "part": "200", "at": pointer, **RANGE, **query}
    return json.loads(client.get(f"{start}/property.json", members).getvalue())["tables"]


def test_the_tree_leads_to_the_page_of_a_property(browser_client, start):
    page = browser_client.get(f"{start}/operation", {"method": "GET", "path": PATH}).content.decode()
    link = f"{start}/property?method=GET&path=%2Forders%2F%7BorderId%7D&part=200&at=%2Fnote"
    assert link in unescape(page)
    assert browser_client.get(link).status_code == 200


def test_the_page_says_when_a_property_vanished_and_what_replaced_it(browser_client, start):
    page = open_page(browser_client, start, "/note")
    assert "no longer seen</div>" in page
    assert "<code>/notice</code></a> now" in page
    assert "50.0 %" in page
    assert re.search(rf'href="{start}/change\?[^"]*id={Drift.objects.get(kind="quiet").pk}"', page)
    assert "perhaps instead of" in open_page(browser_client, start, "/notice")
    (row,) = load_tables(browser_client, start, "/note")["history"]
    assert (row["change"], row["pointer"]) == ("quiet", "/note")


def test_the_presence_of_a_new_property_counts_since_it_was_first_seen(browser_client, start):
    page = open_page(browser_client, start, "/notice")
    assert "Present since first seen</small>" in page
    assert '<div class="v">100 %</div> <div class="d soft">30 of 30</div>' in page
    assert "Present in this period" in open_page(browser_client, start, "/note")


def test_presence_is_shown_for_each_day_and_for_the_period(browser_client, start):
    rows = load_tables(browser_client, start, "/note")["days"]
    assert [(row["day"], row["seen"], row["parents"], row["type"]) for row in rows] == [
        ("2026-09-21", 30, 30, "string"),
        ("2026-09-22", 0, 30, None),
    ]
    second_day = {"from": "2026-09-22", "to": "2026-09-22"}
    assert len(load_tables(browser_client, start, "/note", **second_day)["days"]) == 1
    assert "0 %" in open_page(browser_client, start, "/note", **second_day)
    whole = load_tables(browser_client, start, "")["days"]
    assert [(row["seen"], row["parents"]) for row in whole] == [(30, 30), (30, 30)]
    assert "Nothing was counted" in open_page(
        browser_client, start, "/note", **{"from": "2020-01-01", "to": "2020-01-02"}
    )


def test_all_time_has_every_day_that_is_kept(api, browser_client, workspace):
    """A workspace may keep counts for longer than 400 days, and a reporter's clock may be ahead of the hub's."""
    today = int(timezone.now().timestamp()) // DAY
    days = [today - 900, today - 1, today, today + 1]
    seen_at = [day * DAY for day in days]
    deliver(api, workspace, *(observation(response={"id": 1}, lastSeenAt=moment) for moment in seen_at))
    rows = load_tables(browser_client, f"/w/{workspace.workspace.slug}/production", "/id", **ALL_TIME)["days"]
    assert [row["day"] for row in rows] == [f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}" for moment in seen_at]


def test_consecutive_equal_days_are_one_row(api, browser_client, workspace):
    for day, body, times in (
        (0, {"a": 1}, 3), (1, {"a": 1}, 5), (3, {"a": 1}, 2), (4, {}, 1), (5, {"a": 1}, 2), (6, {"a": "x"}, 2)
    ):  # fmt: skip
        deliver(api, workspace, *[observation(response={"id": 1} | body, lastSeenAt=FIRST + day * DAY)] * times)
    start = f"/w/{workspace.workspace.slug}/production"
    table = open_page(browser_client, start, "/a").partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [" ".join(re.sub(r"<[^>]*>", "", row).split()) for row in table.split("</tr>")[:-1]]
    assert rows == [
        "27 Sep 2026 2 of 2 100 % string",
        "26 Sep 2026 2 of 2 100 % integer",
        "25 Sep 2026 0 of 1 0 % –",
        "21 Sep to 24 Sep 2026 3 days 10 of 10 100 % integer",
    ]
    assert len(load_tables(browser_client, start, "/a")["days"]) == 6


def test_other_properties_with_the_name_are_counted_and_the_list_is_bounded(
    browser_client, start, api, workspace, monkeypatch
):
    page = open_page(browser_client, start, "/note")
    assert "<code>note</code> in 1 other place" in page
    assert "<code>/lines/[]/note</code>" in page
    assert "No other property of the catalog has this name" in open_page(browser_client, start, "/id")
    monkeypatch.setattr(same_name, "MAX_NAMESAKES", 1)
    deliver(api, workspace, observation("GET", "/zebra", response={"note": 1}))
    page = open_page(browser_client, start, "/note")
    assert "The first 1, by path" in page
    assert "is in 3 operations" in page
    wildcard = {"path": "/cart", "at": "/%"}
    assert "No other property of the catalog has this name" in open_page(browser_client, start, "/%", **wildcard)


def test_an_absence_that_is_too_short_to_be_drift_is_counted(api, browser_client, workspace):
    for count, body in ((30, {"id": 1, "note": "x"}), (2, {"id": 1})):
        deliver(api, workspace, *[{**observation(response=body, count=1), "lastSeenAt": FIRST}] * count)
    start = f"/w/{workspace.workspace.slug}/production"
    assert "absent in the latest 2, not yet counted as gone" in open_page(browser_client, start, "/note")
    assert "absent in the latest" not in open_page(browser_client, start, "/id")
    deliver(api, workspace, {**observation(response={"id": 1}, count=1), "lastSeenAt": FIRST})
    page = " ".join(open_page(browser_client, start, "/note").split())
    assert "probably gone" in page
    assert "not in the latest 3, in all 30 before" in page


def test_null_is_named_with_the_type_on_each_day_and_elsewhere(api, browser_client, workspace):
    bodies = {"/orders/{orderId}": [{"coupon": "x"}, {"coupon": None}, {"coupon": None}], "/cart": [{"coupon": None}]}
    for path, responses in bodies.items():
        deliver(
            api, workspace, *({**observation("GET", path, response=body), "lastSeenAt": FIRST} for body in responses)
        )
    deliver(api, workspace, {**observation("GET", "/cart", response={"coupon": 1}), "lastSeenAt": FIRST})
    page = open_page(browser_client, f"/w/{workspace.workspace.slug}/production", "/coupon")
    days, _, elsewhere = page.partition("The same name elsewhere")
    counts = [" ".join(cell.split()) for cell in re.findall(r'data-is="Type">(.*?)</td>', days, re.DOTALL)]
    assert re.sub(r"<[^>]*>", "", counts[0]).split(": ") == ["string or null", " 1 string, 2 null "]
    assert '<span class="integer">integer or null</span>' in elsewhere


def test_a_property_that_is_always_sent_and_sometimes_null_is_drawn_by_type(api, browser_client, workspace):
    """In a chart of its presence all bars would be 100 %."""
    for day in range(2):
        rows = [observation("GET", PATH, response={"coupon": value, "tip": value}) for value in (None, "x")]
        rows += [observation("GET", PATH, response={"coupon": "x"})]
        deliver(api, workspace, *({**row, "lastSeenAt": FIRST + day * 86_400} for row in rows))
    start = f"/w/{workspace.workspace.slug}/production"
    assert "Values by type and day" in open_page(browser_client, start, "/coupon")
    assert "Presence by day" in open_page(browser_client, start, "/tip")  # the presence of /tip varies, too


def test_a_property_that_left_the_shape_keeps_its_history(browser_client, start, workspace):
    operation = Operation.objects.get(key="/orders/{}")
    Drift.objects.create(
        environment=environment_of(workspace), operation=operation, version=1, at=operation.first_seen_at,
        since=operation.first_seen_at, part="404", pointer="/gone/inner", kind="gone", before="string", seen=0,
    )  # fmt: skip
    page = open_page(browser_client, start, "/gone/inner", part="404")
    assert "not in the shape as it is shown now" in page
    assert "removed" in page
    assert load_tables(browser_client, start, "/gone/inner", part="404")["days"] == []


@pytest.mark.parametrize(
    "query", [{"at": "/no-such"}, {"part": "999"}, {"part": ""}, {"path": "/no"}, {"at": "/\0"}, {"at": "/x" * 5000}]
)
def test_the_address_of_no_property_is_404_and_says_what_to_do(browser_client, start, query):
    members = {"method": "GET", "path": PATH, "part": "200", "at": "/id", **query}
    response = browser_client.get(f"{start}/property", members)
    assert response.status_code == 404
    text = response.content.decode()
    assert "Choose one in the shape on its page" in text or "Look for it in the catalog" in text


def test_another_environment_and_an_outsider_have_no_such_property(browser_client, start, other_workspace):
    query = {"method": "GET", "path": PATH, "part": "200", "at": "/note"}
    assert browser_client.get(f"{start.replace('production', 'staging')}/property", query).status_code == 404
    stranger = get_user_model().objects.create_user("stranger")
    Membership.objects.create(workspace=other_workspace.workspace, user=stranger, role="admin")
    client = Client()
    client.force_login(stranger)
    assert client.get(f"{start}/property", query).status_code == 404
    assert Client().get(f"{start}/property", query).status_code == 302


def test_the_drift_of_a_property_is_found_by_an_index_of_its_operation(start):
    """The table is filled with changes of another operation, because PostgreSQL may use any plan for a small table."""
    operation, other = Operation.objects.get(key="/orders/{}"), Operation.objects.get(key="/cart")
    change = Drift.objects.filter(operation=operation).first()
    assert change is not None
    change.pk, change.operation = None, other
    Drift.objects.bulk_create([copy(change) for _ in range(2_000)])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE catalog_drift")
    plan = property_history._drift_of(operation, "200").filter(pointer__in=["/note", ""]).order_by("-id").explain()
    assert re.search(r"Index Cond: .*\boperation_id = ", plan), plan
    assert "Seq Scan" not in plan


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["id"], {"id": 1}),
        (["lines", "[]", "sku"], {"lines": [{"sku": "a"}]}),
        (["by~1key"], {"by/key": {"a": {"n": 1, "m": 2}}}),
        (["none"], {}),
    ],
)
def test_only_the_branch_of_the_property_is_read(steps, expected):
    value = {"id": 1, "lines": [{"sku": "a", "more": 1}], "by/key": {"a": {"n": 1, "m": 2}}, "other": {"id": 2}}
    narrowed = narrow_state(infer(value).to_state(), steps)
    assert set(Evidence.from_state(narrowed).properties) == set(expected)
    full, bare = infer(value), infer(expected)
    for name in expected:
        assert narrowed["properties"][name] == narrow_state(bare.properties[name].to_state(), steps[1:])
    assert Evidence.from_state(narrowed).counts == full.counts


def test_for_a_value_of_a_map_all_names_are_read():
    state = infer({"a": {"n": 1, "m": 2}, "b": {"n": 3}}).to_state()
    assert {
        name: set(child["properties"]) for name, child in narrow_state(state, ["{}", "n"])["properties"].items()
    } == {
        "a": {"n"},
        "b": {"n"},
    }


def test_the_day_of_the_reset_of_a_whole_operation_counts_from_the_reset_on(api, browser_client, start, workspace):
    operation = Operation.objects.get(environment=environment_of(workspace), path=PATH)
    reset_baseline(operation, actor="ann", now=datetime.fromtimestamp(FIRST + DAY, UTC))
    deliver(api, workspace, *[observation(response={"notice": "x"}, lastSeenAt=FIRST + DAY)] * 3)
    (day,) = load_tables(browser_client, start, "/notice")["days"]
    assert (day["day"], day["seen"], day["parents"]) == ("2026-09-22", 3, 3)
    page = open_page(browser_client, start, "/notice")
    assert "Present in this period" in page
    assert "3 of 3" in page
    assert "Days are listed from" not in page


def test_the_first_listed_day_after_the_reset_of_a_property_is_named_in_utc(browser_client, start, workspace):
    operation = Operation.objects.get(environment=environment_of(workspace), path=PATH)
    reset_baseline(operation, part="200", pointer="/note", actor="ann", now=datetime(2026, 9, 21, 23, 30, tzinfo=UTC))
    assert [row["day"] for row in load_tables(browser_client, start, "/note")["days"]] == ["2026-09-22"]
    page = open_page(browser_client, start, "/note", tz="Europe/Berlin")
    assert "Days are listed from the day after 21 Sep on." in page


def test_a_reset_property_says_so_and_counts_no_day_before_it(browser_client, start, workspace):
    operation = Operation.objects.get(environment=environment_of(workspace), path=PATH)
    assert len(load_tables(browser_client, start, "/note")["days"]) == 2
    moment = datetime.fromtimestamp(FIRST, UTC)
    reset = reset_baseline(operation, part="200", pointer="/note", actor="ann", now=moment)
    page = open_page(browser_client, start, "/note")
    assert "by ann: what was observed before is not counted on this page" in page
    assert "nothing observed since the reset" in page
    days = [row["day"] for row in load_tables(browser_client, start, "/note")["days"]]
    assert days == [f"{moment + timedelta(days=1):%Y-%m-%d}"]  # the day of the reset began before the reset
    assert "is not counted on this page" not in open_page(browser_client, start, "/id")
    undo_baseline_reset(reset, actor="ann", now=moment)
    assert "is not counted on this page" not in open_page(browser_client, start, "/note")
