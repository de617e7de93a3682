"""The page of one change: before, after, whom the change affects, and what people decide about it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog.browse.operation.presence_counts import Presence
from catalog.change_kinds import BREAKS_FOR, CHANGE_KINDS
from catalog.change_page.meaning_and_advice import COMPATIBLE, REQUEST_SENTENCES, RESPONSE_SENTENCES, explain_impact
from catalog.change_page.mute import mute_drift, unmute_drift
from catalog.change_page.page_data import MAX_SIBLINGS, MAX_STORY, find_current_field
from catalog.drift.compare_outlines import Change
from catalog.models import Drift, DriftMute
from tests.at_once import run_twice_at_once
from tests.catalog.reports import deliver, environment_of, observation
from tests.page_text import read_unescaped_html
from workspaces.models import AuditEntry, Membership

pytestmark = pytest.mark.django_db


@pytest.fixture
def start(api: Any, workspace: Any) -> str:
    """Return the address of an environment in which `total` became a number and `note` appeared."""
    deliver(api, workspace, *[observation(response={"id": 1, "total": 2})] * 30)
    deliver(api, workspace, observation(response={"id": 1, "total": 2.5, "note": "x"}))
    return f"/w/{workspace.workspace.slug}/production"


@pytest.fixture
def total(start: str) -> Drift:
    return Drift.objects.get(pointer="/total")


def open_page(client: Any, address: str, **query: str) -> str:
    response = client.get(address, query)
    assert response.status_code == 200, response.content
    return read_unescaped_html(response)


def list_new(client: Any, start: str) -> list[str]:
    tables = json.loads(client.get(f"{start}/drift.json", {"new": "1"}).getvalue())["tables"]
    return [row["pointer"] for row in tables["drift"]]


def test_an_admin_goes_from_a_breaking_change_to_its_alert(browser_client, start, total):
    link = f'href="{start}/alerts?kind=drift.breaking#alert"'
    assert link in open_page(browser_client, f"{start}/change", id=total.pk)
    assert link not in open_page(browser_client, f"{start}/change", id=Drift.objects.get(pointer="/note").pk)
    form = open_page(browser_client, f"{start}/alerts", kind="drift.breaking")
    assert re.search(r'value="drift.breaking" ?checked', form)


def test_feed_timeline_and_overview_link_to_the_page_of_a_change(browser_client, start, total):
    link = f'href="{start}/change?id={total.pk}"'
    assert link in open_page(browser_client, f"{start}/drift")
    assert link in open_page(browser_client, f"{start}/operation", method="GET", path="/orders/{orderId}")
    assert link in open_page(browser_client, f"{start}/overview")


def test_the_page_shows_before_and_after_whom_a_change_affects_and_what_changed_with_it(browser_client, start, total):
    page = open_page(browser_client, f"{start}/change", id=total.pk)
    assert "<code>/total</code> type changed: integer → number" in page
    assert "Breaking for consumers" in page
    assert ('<td data-is="Before">integer</td> <td data-is="Day of the change" class="whole"> number </td>') in page
    assert "version 1" in page
    assert "version 2" in page
    assert "1 number in 1 value when detected" in page
    assert "1 of 1" not in page  # this would be the presence, not the new type
    assert "not acknowledged yet" in page
    assert "Consumers that expect integer can fail on number." in page
    assert f'href="{start}/change?id={Drift.objects.get(pointer="/note").pk}"' in page
    (row,) = json.loads(browser_client.get(f"{start}/change.json", {"id": total.pk}).getvalue())["tables"]["change"]
    assert (row["id"], row["pointer"], row["before"], row["after"]) == (total.pk, "/total", "integer", "number")


def test_the_page_counts_presence_and_types_before_and_after(api, browser_client, workspace):
    noon = 1_790_000_000 // 86_400 * 86_400 + 43_200
    for day, value in ((0, 1), (1, None), (2, 2.5)):
        row = observation(
            response={"id": 1} | ({} if value is None else {"total": value}), lastSeenAt=noon + day * 86_400
        )
        deliver(api, workspace, *[row] * 3)
    drift = Drift.objects.get(pointer="/total")
    drift.since = datetime.fromtimestamp(noon + 2 * 86_400, UTC)
    field = find_current_field(environment_of(workspace), drift, today=drift.since.date())
    assert (field.before.presence, field.before.types) == (Presence(3, 6), {"integer": 3})
    assert (field.change_day.presence, field.change_day.types) == (Presence(3, 3), {"number": 3})
    page = open_page(browser_client, f"/w/{workspace.workspace.slug}/production/change", id=drift.pk)
    assert "Present and values by type are of these whole days of UTC" in page
    assert "After" not in page[page.index("<table") : page.index("</table>")]  # there is no later day yet
    assert field.after is None
    drift.since -= timedelta(days=1)  # a report can begin a day before the new type was sent
    field = find_current_field(environment_of(workspace), drift, today=drift.since.date() + timedelta(days=1))
    assert field is not None
    assert field.change_day is not None
    assert (field.change_day.days.first, field.change_day.types) == (
        drift.since.date() + timedelta(days=1),
        {"number": 3},
    )
    row = observation(response={"id": 1, "total": 2.5}, lastSeenAt=noon + 3 * 86_400)
    deliver(api, workspace, *[row] * 3)
    field = find_current_field(environment_of(workspace), drift, today=drift.since.date() + timedelta(days=2))
    assert field is not None
    assert field.after is not None
    assert (field.before.presence, field.after.presence) == (Presence(3, 6), Presence(3, 3))


def test_the_page_names_the_types_without_counts_and_the_days_that_are_counted(api, browser_client, workspace):
    """If a count of all time were next to a count of one day, both would seem to cover the same time."""
    noon = 1_790_000_000 // 86_400 * 86_400 + 43_200
    deliver(api, workspace, *[observation(response={"total": 2}, lastSeenAt=noon)] * 30)
    for value in ("x", 3):
        deliver(api, workspace, observation(response={"total": value}, lastSeenAt=noon + 86_400))
    drift = Drift.objects.get()
    page = open_page(browser_client, f"/w/{workspace.workspace.slug}/production/change", id=drift.pk)
    assert (
        '<td data-is="Before">integer</td> <td data-is="Day of the change" class="whole"> integer or string </td>'
    ) in page
    since = drift.since.astimezone(UTC)
    cells = re.findall(r"<td[^>]*> ([^<]*) </td>", page)
    days = [f"{since - timedelta(days=1):%-d %b %Y}", f"{since:%-d %b %Y}"]  # one day before, not 30: nothing is older
    assert cells[cells.index(days[0]) :][:2] == days
    assert '<th scope="col"> Day of the change, version 2 </th>' in page


def test_the_page_says_how_many_values_have_the_new_type_since_it_was_detected(api, browser_client, workspace):
    """A few strings in a thousand values look like noise, although all values since the change may be strings."""
    deliver(api, workspace, *[observation(response={"total": 2})] * 30)
    deliver(api, workspace, *[observation(response={"total": "x"})] * 2, observation(response={"total": 3}))
    drift = Drift.objects.get()
    address = f"/w/{workspace.workspace.slug}/production/change"
    page = open_page(browser_client, address, id=drift.pk)
    assert "<b>2 strings in 3 values when detected</b>, none in the 30 before ·" in page
    deliver(api, workspace, *[observation(response={"total": "x"})] * 6, observation(response={"total": 3}))
    page = open_page(browser_client, address, id=drift.pk)
    assert "<b>2 strings in 3 values when detected</b>, none in the 30 before · <b>6 of 7 since then</b> ·" in page


def test_the_page_says_how_often_a_new_property_was_present_since_it_was_detected(api, browser_client, workspace):
    deliver(api, workspace, *[observation(response={"id": 1})] * 30)
    bodies = [{"id": 1, "note": "x"}] * 4 + [{"id": 1}] * 3
    deliver(api, workspace, *[observation(response=body) for body in bodies])
    drift = Drift.objects.get(kind="new")
    address = f"/w/{workspace.workspace.slug}/production/change"
    page = open_page(browser_client, address, id=drift.pk)
    assert "in 4 of 7 answers</span> when detected ·" in page
    deliver(api, workspace, *[observation(response=body) for body in bodies[2:]])
    page = open_page(browser_client, address, id=drift.pk)
    assert "in 4 of 7 answers</span> when detected · <b>2 of 5 since then</b> ·" in page
    assert "4 of 7, when detected; 2 of 5 since then" in page


def test_the_page_names_what_was_released_before_the_change(api, browser_client, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "total": 2})] * 30)
    page_address = f"/w/{workspace.workspace.slug}/production/change"
    released = timezone.now() - timedelta(minutes=2)
    api.post("/api/annotations", {"text": "Release 5.0", "at": released.timestamp()})
    deliver(api, workspace, observation(response={"id": 1, "total": 2.5}))
    drift = Drift.objects.get()
    advice = open_page(browser_client, page_address, id=drift.pk).partition("What to do")[2].partition("</div>")[0]
    assert "Release 5.0" in advice
    began = f"The report that brought the change covers traffic from {drift.since:%H:%M:%S} on."
    assert f"It was detected at {drift.at:%H:%M:%S}." in advice
    assert f"{released:%-d %b, %H:%M:%S}. {began}" in advice
    Drift.objects.update(at=released - timedelta(minutes=1))
    assert "look at what was released when it began" in open_page(browser_client, page_address, id=drift.pk)


def test_a_property_that_vanished_today_has_no_later_days(api, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x"})] * 60)
    deliver(api, workspace, *[observation(response={"id": 1})] * 60)
    drift = Drift.objects.get(kind="quiet")
    today = datetime.now(UTC).date()
    field = find_current_field(environment_of(workspace), drift, today=today)
    assert field is not None
    assert field.after is None
    assert field.change_day is not None
    assert field.before.days.last < field.change_day.days.first == field.change_day.days.last <= today


def test_a_property_no_longer_seen_says_how_often_it_was_absent_when_detected_and_by_now(
    api, browser_client, workspace
):
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x"})] * 60)
    deliver(api, workspace, *[observation(response={"id": 1})] * 26)
    drift = Drift.objects.get(kind="quiet")
    address = f"/w/{workspace.workspace.slug}/production/change"
    page = open_page(browser_client, address, id=drift.pk)
    assert "absent 26 times in a row when detected ·" in page
    assert "string, then not sent" in page
    deliver(api, workspace, *[observation(response={"id": 1})] * 20)
    page = open_page(browser_client, address, id=drift.pk)
    assert "absent 26 times in a row when detected, <b>46 by now</b>" in page
    assert "0 of 26, when detected; 0 of 46 by now" in page
    deliver(api, workspace, observation(response={"id": 1, "note": "x"}))
    assert "by now" not in open_page(browser_client, address, id=drift.pk)


def test_a_field_sent_less_often_and_then_no_more_has_changes_that_link_to_each_other(api, browser_client, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x"})] * 60)
    deliver(api, workspace, observation(response={"id": 1, "note": "x"}), observation(response={"id": 1}))
    deliver(api, workspace, *[observation(response={"id": 1})] * 60)
    optional, quiet = Drift.objects.get(kind="optional"), Drift.objects.get(kind="quiet")
    start = f"/w/{workspace.workspace.slug}/production"
    feed = open_page(browser_client, f"{start}/drift")
    assert f'<a href="{start}/change?id={quiet.pk}">later no longer seen</a>' in feed
    assert feed.count(">later ") == 1
    for drift, other, word in ((optional, quiet, "later"), (quiet, optional, "earlier")):
        head, _, story = open_page(browser_client, f"{start}/change", id=drift.pk).partition(
            "Other changes of this field"
        )
        assert (f'<b>Later <a href="{start}/change?id={other.pk}">' in head) is (word == "later")
        assert f'href="{start}/change?id={other.pk}"' in story
        assert f'<span class="soft">{word}, <time' in story


def test_lists_of_other_changes_that_are_cut_say_how_many_there_are_and_where(api, browser_client, workspace):
    names = [f"n{chr(97 + number)}" for number in range(MAX_SIBLINGS + 3)]
    deliver(api, workspace, *[observation(response={"id": 1})] * 30)
    deliver(api, workspace, observation(response={"id": 1, **dict.fromkeys(names, "x")}))
    drift = Drift.objects.filter(kind="new").earliest("id")
    page = open_page(browser_client, f"/w/{workspace.workspace.slug}/production/change", id=drift.pk)
    assert f"The first {MAX_SIBLINGS} of {MAX_SIBLINGS + 2};" in page
    feed = unescape(re.search(r'<a href="([^"]*)">the drift of the operation</a>', page)[1])
    assert browser_client.get(feed).status_code == 200
    assert "The latest" not in page
    for _ in range(MAX_STORY + 1):
        drift.pk = None
        drift.save()
    page = open_page(browser_client, f"/w/{workspace.workspace.slug}/production/change", id=drift.pk)
    assert f"The latest {MAX_STORY} of {MAX_STORY + 1};" in page
    history = unescape(re.search(r'<a href="([^"]*)">the history of the property</a> has all', page)[1])
    assert browser_client.get(history).status_code == 200


def test_the_changes_of_a_renamed_field_link_to_each_other(api, browser_client, workspace):
    for body in ({"id": 1, "note": "x"}, {"id": 1, "remark": "x"}):
        deliver(api, workspace, *[observation(response=body)] * 60)
    start = f"/w/{workspace.workspace.slug}/production"
    for kind, words, other in (("quiet", "perhaps", "remark"), ("new", "perhaps instead of", "note")):
        page = open_page(browser_client, f"{start}/change", id=Drift.objects.get(kind=kind).pk)
        assert re.search(rf', {words} <a href="{start}/property\?[^"]*at=%2F{other}"> <code>/{other}</code></a>', page)


def test_lists_of_changes_link_the_field_that_seems_to_replace_another(api, browser_client, workspace):
    for body in ({"id": 1, "note": "x"}, {"id": 1, "remark": "x"}):
        deliver(api, workspace, *[observation(response=body)] * 60)
    start = f"/w/{workspace.workspace.slug}/production"
    place = {"method": "GET", "path": "/orders/{orderId}", "part": "200", "at": "/note"}
    for page, query in (("drift", {}), ("overview", {}), ("operation", place), ("property", place)):
        text = open_page(browser_client, f"{start}/{page}", **query)
        assert '<span class="soft">string</span> → no longer seen' in text, page
        link = rf'\(perhaps <a href="{start}/property\?[^"]*at=%2Fremark"><code>/remark</code></a> now\)'
        assert re.search(link, text), page


def test_the_days_around_a_change_are_drawn_with_what_happened_on_them(api, browser_client, start, total, workspace):
    api.post("/api/annotations", {"text": "Release 5.0"})
    assert "Values by type and day" not in open_page(
        browser_client, f"{start}/change", id=total.pk
    )  # a chart with one bar says nothing
    yesterday = (timezone.now() - timedelta(days=1)).timestamp()
    deliver(api, workspace, observation(response={"id": 1, "total": 2, "note": "x"}, lastSeenAt=yesterday))
    page = open_page(browser_client, f"{start}/change", id=total.pk)
    assert "Values by type and day" in page
    assert "paler: today so far" in page
    assert "Release 5.0" in page.partition('class="chart-events"')[2]
    assert "Presence by day" in open_page(browser_client, f"{start}/change", id=Drift.objects.get(pointer="/note").pk)


def test_an_acknowledgement_has_a_name_and_a_time_and_can_be_undone(browser_client, start, total):
    assert list_new(browser_client, start) == ["/total", "/note"]
    address = f"{start}/change/{total.pk}/acknowledgement"
    for _ in range(2):
        response = browser_client.post(address)
        assert (response.status_code, response["Location"]) == (303, f"{start}/change?id={total.pk}#review")
    assert list_new(browser_client, start) == ["/note"]
    page = open_page(browser_client, f"{start}/change", id=total.pk)
    assert "Acknowledged by test-operator" in page
    assert "<b>What to do</b> <p> Nothing more has to be done. </p>" in page
    assert ">acknowledged</span>" in open_page(browser_client, f"{start}/drift")
    for _ in range(2):
        browser_client.post(address, {"undo": "1"})
    assert list_new(browser_client, start) == ["/total", "/note"]
    assert "not acknowledged yet" in open_page(browser_client, f"{start}/change", id=total.pk)
    entries = AuditEntry.objects.filter(action__startswith="drift ").order_by("id")
    assert [(entry.action, entry.facts["place"], entry.facts["change"]) for entry in entries] == [
        ("drift acknowledged", "200 /total", "type changed"),
        ("drift acknowledgement undone", "200 /total", "type changed"),
    ]


def test_the_page_of_a_muted_change_marks_it_and_puts_the_mute_first(api, browser_client, start, total, workspace):
    yesterday = (timezone.now() - timedelta(days=1)).timestamp()
    deliver(api, workspace, observation(response={"id": 1, "total": 2, "note": "x"}, lastSeenAt=yesterday))
    browser_client.post(f"{start}/change/{total.pk}/mute", {"days": "7"})
    page = open_page(browser_client, f"{start}/change", id=total.pk)
    assert f"id={total.pk}" in page.partition('class="chart-events"')[2].partition("</ul>")[0]
    assert page.index("Unmute") < page.index(">Acknowledge<")
    assert 'class="btn main">Acknowledge' not in page


def test_a_mute_applies_to_one_kind_at_one_node_and_expires(browser_client, start, total):
    address = f"{start}/change/{total.pk}/mute"
    browser_client.post(address, {"days": "7"})
    assert list_new(browser_client, start) == ["/note"]
    assert ">muted</span>" in open_page(browser_client, f"{start}/drift")
    assert "Unmute" in open_page(browser_client, f"{start}/change", id=total.pk)
    Drift.objects.create(
        **{name: getattr(total, name) for name in ("environment", "operation", "version", "since", "part", "pointer")},
        at=timezone.now(), kind="nullable", before="number", after="number or null", seen=1,
    )  # fmt: skip
    assert list_new(browser_client, start) == ["/total", "/note"]
    assert Drift.objects.filter(pointer="/total").count() == 2
    DriftMute.objects.update(until=timezone.now())
    assert len(list_new(browser_client, start)) == 3
    browser_client.post(address, {"days": "1"})
    for _ in range(2):
        browser_client.post(address, {"undo": "1"})
    assert not DriftMute.objects.exists()
    actions = AuditEntry.objects.filter(action__startswith="drift ").order_by("id").values_list("action", flat=True)
    assert list(actions) == ["drift muted", "drift muted", "drift unmuted"]


def test_a_new_mute_replaces_the_old_one_and_expired_mutes_are_deleted(total):
    now = timezone.now()
    other = Drift.objects.get(pointer="/note")
    mute_drift(other, 1, actor="ann", now=now - timedelta(days=2))
    for days in (1, 30):
        mute_drift(total, days, actor="ann", now=now)
    (mute,) = DriftMute.objects.all()
    assert (mute.pointer, (mute.until - now).days) == ("/total", 30)


@pytest.mark.django_db(transaction=True)
def test_mutes_and_unmutes_at_the_same_time_do_not_fail(total):
    def mute_and_unmute():
        for _ in range(40):
            mute_drift(total, 1, actor="ann", now=timezone.now())
            unmute_drift(total, actor="ann", now=timezone.now())

    run_twice_at_once(mute_and_unmute)
    assert not DriftMute.objects.exists()


@pytest.mark.parametrize("days", ["", "2", "-1", "x", "9" * 40])
def test_a_mute_of_another_length_is_refused_with_a_message(browser_client, start, total, days):
    response = browser_client.post(f"{start}/change/{total.pk}/mute", {"days": days})
    assert response.status_code == 400
    assert "Send days=1, 7 or 30." in response.content.decode()


@pytest.mark.parametrize("number", ["", "0", "x", "²", "9" * 18, "9" * 5000, "1\0"])
def test_the_address_of_no_change_is_404_and_says_what_to_do(browser_client, start, number):
    response = browser_client.get(f"{start}/change", {"id": number})
    assert response.status_code == 404
    assert "Look for it in the feed of drift" in response.content.decode()


def test_other_environments_and_outsiders_find_no_page_and_a_viewer_no_buttons(
    browser_client, start, total, workspace, other_workspace
):
    assert browser_client.get(f"{start.replace('production', 'staging')}/change?id={total.pk}").status_code == 404
    staging = start.replace("production", "staging")
    assert browser_client.post(f"{staging}/change/{total.pk}/acknowledgement").status_code == 404
    for target, role, expected in ((other_workspace, "admin", (404, 404)), (workspace, "viewer", (200, 403))):
        user = get_user_model().objects.create_user(f"{role}-of-{target.workspace.slug}")
        Membership.objects.create(workspace=target.workspace, user=user, role=role)
        client = Client()
        client.force_login(user)
        statuses = client.get(f"{start}/change", {"id": total.pk}), client.post(f"{start}/change/{total.pk}/mute")
        assert tuple(response.status_code for response in statuses) == expected
    page = client.get(f"{start}/change", {"id": total.pk}).content.decode()
    assert '<button class="btn main">Acknowledge' not in page
    total.refresh_from_db()
    assert total.acknowledged_at is None


def test_every_kind_of_change_has_its_reason():
    for part in ("200", "request", "path"):
        for kind in CHANGE_KINDS:
            for breaks in ("", *BREAKS_FOR):
                assert explain_impact(Change(part, "/a", kind, breaks=breaks))
    shapes = {"200": RESPONSE_SENTENCES, "request": REQUEST_SENTENCES}
    for part, sentences in shapes.items():
        for kind, breaks in sentences:
            sentence = sentences[kind, breaks].format(before="integer", after="string")
            assert explain_impact(Change(part, "/a", kind, "integer", "string", breaks)) == sentence != COMPATIBLE


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("integer", "string", "expect integer can fail on string."),
        ("integer", "integer or string", "expect integer can fail on string."),
        ("integer", "array of (integer or string)", "can fail on array of (integer or string)."),
        ("", "", "expect the previous type can fail on the new one."),
    ],
)
def test_the_reason_of_a_type_change_names_the_types_that_came(before, after, words):
    assert explain_impact(Change("200", "/a", "type", before, after, "consumer")).endswith(words)


def test_a_type_after_null_says_how_often_it_was_null(api, browser_client, workspace):
    """Whether the new type breaks consumers or nobody depends on how often the value was null before."""
    for status, nulls, words in (
        (200, 20, "It was null 20 times and nothing else"),
        (201, 3, "It was null 3 times, which is too few"),
    ):
        deliver(api, workspace, *[observation(status=status, response={"id": 1, "coupon": None})] * nulls)
        deliver(api, workspace, observation(status=status, response={"id": 1, "coupon": "x"}))
        drift = Drift.objects.get(part=str(status), pointer="/coupon")
        assert bool(drift.breaks) == (status == 200)
        address = f"/w/{workspace.workspace.slug}/production/change"
        assert words in open_page(browser_client, address, id=drift.pk)
    drift.values_before = None  # as for a change that was detected before these counts were kept
    assert "null fewer than 20 times" in explain_impact(drift)


def test_a_new_error_leads_to_why_calls_fail(api, browser_client, workspace):
    deliver(api, workspace, observation("POST", "/refunds", 201))
    deliver(api, workspace, *[observation("POST", "/refunds", status) for status in (403, 409, 202)])
    start = f"/w/{workspace.workspace.slug}/production"
    pages = {
        change.part: open_page(browser_client, f"{start}/change", id=change.pk)
        for change in Drift.objects.filter(kind="new", pointer="")
    }
    advice = {part: page.partition("<b>What to do</b>")[2].partition("</div>")[0] for part, page in pages.items()}
    assert "find out why their calls fail." in advice["403"]
    assert "/rejections?operation=POST+%2Frefunds" in advice["403"]
    assert "find out why their calls fail." in advice["409"]
    assert "/rejections" not in advice["409"]
    assert "Nothing has to be done." in advice["202"]


def test_a_new_status_shows_how_many_calls_had_it_each_day(api, browser_client, workspace):
    """The body of a status is present in all of its answers, so a chart of its presence says nothing."""
    noon = 1_790_000_000 // 86_400 * 86_400 + 43_200
    for day, refused in ((0, 0), (1, 2), (2, 1)):
        rows = [observation(response={"id": 1}, lastSeenAt=noon + day * 86_400)] * 8
        rows += [observation(status=403, response={"code": "no"}, lastSeenAt=noon + day * 86_400)] * refused
        deliver(api, workspace, *rows)
    drift = Drift.objects.get(part="403")
    page = open_page(browser_client, f"/w/{workspace.workspace.slug}/production/change", id=drift.pk)
    assert "Calls with 403 by day" in page
    events = page.partition('class="chart-events"')[2].partition("</ul>")[0]
    assert ">Drift detected:" in events
    assert "Breaking" not in events, "a new status breaks nobody"
    assert "2 answers</span> when detected" in page
    assert "Presence by day" not in page
    assert "Values by type" not in page
    assert '<th scope="row">Type</th>' not in page
    counts = re.findall(r"<td[^>]*>([^<]*)</td>", page.partition("Calls with 403</th>")[2].partition("</tr>")[0])
    assert [count.strip() for count in counts] == ["0 of 8", "2 of 10", "1 of 9"]
    drift.since -= timedelta(days=1)  # a report may begin a day before the first answer with the status
    field = find_current_field(environment_of(workspace), drift, today=drift.since.date() + timedelta(days=9))
    assert field is not None
    assert field.change_day is not None
    assert field.change_day.presence == Presence(2, 10)
    tables = json.loads(
        browser_client.get(f"/w/{workspace.workspace.slug}/production/change.json", {"id": drift.pk}).getvalue()
    )["tables"]
    assert [(row["seen"], row["parents"]) for row in tables["days"]] == [(0, 8), (2, 10), (1, 9)]


def test_the_page_says_between_which_times_a_change_began(browser_client, start, total):
    detected = datetime(2026, 9, 22, 12, 30, 50, tzinfo=UTC)
    Drift.objects.update(at=detected, since=detected - timedelta(minutes=2))
    page = open_page(browser_client, f"{start}/change", id=total.pk)
    assert re.search(r"began between <time[^>]*>[^<]+</time> and <time[^>]*>[^<]+</time>, when it was detected", page)
    Drift.objects.update(since=detected - timedelta(seconds=40))
    page = open_page(browser_client, f"{start}/change", id=total.pk)
    assert re.search(r"began <time[^>]*>[^<]+</time>, when it was detected", page)


def test_the_line_below_the_heading_has_no_empty_item(api, browser_client, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x"})] * 60)
    deliver(api, workspace, *[observation(response=body) for body in ({"id": 1, "note": "x"}, {"id": 1})])
    drift = Drift.objects.get(kind="optional")
    page = open_page(browser_client, f"/w/{workspace.workspace.slug}/production/change", id=drift.pk)
    assert "· ·" not in page


def test_the_feed_costs_no_statement_for_each_change(browser_client, start, api, workspace):
    def count_statements() -> int:
        with CaptureQueriesContext(connection) as statements:
            browser_client.get(f"{start}/drift")
        return len(statements)

    first = count_statements()
    deliver(api, workspace, observation(response={"id": "1", "total": 2.5, "note": None, "more": 1}))
    assert Drift.objects.filter(environment=environment_of(workspace)).count() > 3
    assert count_statements() == first


@pytest.mark.parametrize(("refused", "is_frequent"), [(1, False), (9, True)])
def test_a_new_error_says_how_often_it_comes_now_and_is_not_played_down_if_frequent(
    api, browser_client, workspace, refused, is_frequent
):
    deliver(api, workspace, *[observation(response={"id": 1})] * 20)
    deliver(api, workspace, observation(status=403))
    deliver(api, workspace, *[observation(status=403)] * (refused - 1))
    drift = Drift.objects.get(part="403")
    start = f"/w/{workspace.workspace.slug}/production/change"
    page = " ".join(open_page(browser_client, start, id=drift.pk).split())
    head = page.partition("<main")[2].partition("Before and after")[0]
    assert f"<b>403 in {refused} of {20 + refused} calls today</b>" in head
    assert ("Callers that tell success from failure are not affected" in page) is not is_frequent
    assert (f"Callers get 403 in place of an answer, in {refused} of 29 calls today" in page) is is_frequent
    since = quote(drift.since.isoformat(), safe="")
    assert f"from={since}&amp;since={since}#singles" in page or f"from={since}&since={since}#singles" in page
