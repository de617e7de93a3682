"""The page of annotations, and what charts show of them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from html import unescape
from urllib.parse import urljoin
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from catalog.models import Drift
from outcomes.ingest.record import Report, record_outcomes
from tests.sample_data import fill_workspace
from tests.sign_in import sign_in_as
from workspaces.annotations.views import ROWS_PER_PAGE
from workspaces.keys.create import create_key
from workspaces.models import Annotation, AuditEntry, Membership

PAGE = "/w/lumen-books/production/annotations"
pytestmark = pytest.mark.django_db


@pytest.fixture
def editor(workspace):
    return sign_in_as(Membership.EDITOR, workspace)


def read(client, address):
    return client.get(address).content.decode()


def marks_of(html, chart):
    match = re.search(rf'<script id="{chart}-marks" type="application/json">(.*?)</script>', html)
    return json.loads(match[1]) if match else []


def texts_of(html, chart):
    return {text for mark in marks_of(html, chart) for text in mark["texts"]}


def actions():
    return [entry.action for entry in AuditEntry.objects.order_by("id") if entry.action.startswith("annotation")]


def test_an_annotation_by_a_key_names_the_key(api, browser_client, editor):
    api.post("/api/annotations", {"text": "Deploy 4.2"})
    page = re.sub(r"\s+", " ", read(editor, PAGE))
    assert re.search(rf'key <span title="{api.key[:12]}…">all scopes</span>', page)
    assert f'key <a href="{PAGE.replace("annotations", "keys")}#key-' in re.sub(r"\s+", " ", read(browser_client, PAGE))


def test_a_referer_that_is_no_address_does_not_matter(editor):
    answer = editor.post(f"{PAGE}/add", {"text": "Deploy 4.2"}, headers={"referer": "http://["})
    assert (answer.status_code, answer["Location"]) == (303, PAGE)


def test_an_editor_adds_changes_and_deletes(editor, workspace):
    form = {"text": " Deploy 4.2 ", "at": "2026-03-02T14:05", "url": "https://example.com/4.2", "environment": "all"}
    answer = editor.post(f"{PAGE}/add?range=all&tz=Europe/Berlin", form)
    assert answer["Location"] == f"{PAGE}?range=all&tz=Europe%2FBerlin"
    row = Annotation.objects.get()
    assert (row.text, row.environment, f"{row.at:%Y-%m-%d %H:%M}") == ("Deploy 4.2", None, "2026-03-02 13:05")
    html = read(editor, answer["Location"])
    assert "Mon 2 Mar 2026, 14:05" in html
    assert 'href="https://example.com/4.2" rel="noopener noreferrer nofollow"' in html

    assert "Edit the annotation" in read(editor, f"{PAGE}?range=all&change={row.pk}")
    editor.post(f"{PAGE}/{row.pk}/change", {"text": "Deploy 4.3", "url": ""})
    row.refresh_from_db()
    assert (row.text, row.url) == ("Deploy 4.3", "")

    assert "Delete “Deploy 4.3”?" in read(editor, f"{PAGE}?range=all&delete={row.pk}")
    question = f"http://testserver{PAGE}?range=all&delete={row.pk}"
    answer = editor.post(f"{PAGE}/{row.pk}/delete?range=all", headers={"referer": question})
    assert answer.status_code == 303
    assert "delete=" not in answer["Location"]
    assert not Annotation.objects.exists()
    assert editor.post(f"{PAGE}/{row.pk}/delete").status_code == 404
    assert actions() == ["annotation added", "annotation changed", "annotation deleted"]


def test_a_form_that_was_opened_before_another_change_undoes_nothing_without_a_word(editor):
    editor.post(f"{PAGE}/add", {"text": "Deploy 4.2"})
    row = Annotation.objects.get()
    opened = re.findall(r'name="opened" value="(\w+)"', read(editor, f"{PAGE}?range=all&change={row.pk}"))[0]
    editor.post(f"{PAGE}/{row.pk}/change", {"text": "Deploy 4.3", "url": "https://example.com", "opened": opened})
    answer = editor.post(f"{PAGE}/{row.pk}/change", {"text": "Deploy 4.2 of the shop", "url": "", "opened": opened})
    html = answer.content.decode()
    assert "text is now Deploy 4.3, link is now https://example.com. Nothing was stored." in html
    assert 'value="Deploy 4.2 of the shop"' in html
    row.refresh_from_db()
    assert (row.text, row.url) == ("Deploy 4.3", "https://example.com")


def test_an_editor_changes_the_time_and_no_other_change_moves_an_annotation(editor, workspace):
    """The second of two equal hours, at the end of summer time, with seconds that the page does not show."""
    moment = datetime(2025, 10, 26, 1, 30, 20, tzinfo=UTC)
    row = Annotation.objects.create(workspace=workspace.workspace, at=moment, text="Deploy", created_at=moment)
    address = f"{PAGE}?range=all&tz=Europe/Berlin&change={row.pk}"
    assert 'name="at" value="2025-10-26T02:30"' in read(editor, address)
    post = partial(editor.post, f"{PAGE}/{row.pk}/change?range=24h&tz=Europe/Berlin")
    post({"text": "Deploy 4", "at": "2025-10-26T02:30"})
    row.refresh_from_db()
    assert (row.text, row.at) == ("Deploy 4", moment)

    assert "Enter a time between" in post({"text": "Deploy 4", "at": "1999-01-01T00:00"}).content.decode()
    answer = post({"text": "Deploy 4", "at": "2025-10-27T02:30"})
    row.refresh_from_db()
    assert row.at == datetime(2025, 10, 27, 1, 30, tzinfo=UTC)
    assert answer["Location"] == f"{PAGE}?from=2025-10-27&to=2025-10-27&tz=Europe%2FBerlin"
    facts = AuditEntry.objects.latest("id").facts
    assert (facts["at"], facts["beforeAt"]) == (row.at.isoformat(), moment.isoformat())


@pytest.mark.parametrize("days", [-40, 0.9])
def test_an_annotation_outside_the_period_of_the_page_is_shown_after_it_was_added(editor, days):
    moment = timezone.now().astimezone(ZoneInfo("Asia/Kolkata")) + timedelta(days=days)
    referer = f"http://testserver{PAGE}?range=24h&tz=Asia/Kolkata"
    form = {"text": "Campaign", "at": f"{moment:%Y-%m-%dT%H:%M}"}
    answer = editor.post(f"{PAGE}/add?range=24h&tz=Asia/Kolkata", form, headers={"referer": referer})
    assert answer["Location"] == f"{PAGE}?from={moment:%Y-%m-%d}&to={moment:%Y-%m-%d}&tz=Asia%2FKolkata"
    assert f"{moment:%a} {moment.day} {moment:%b %Y, %H:%M}" in read(editor, answer["Location"])


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"text": "  "}, "Write 1 to 200 characters."),
        ({"text": "x" * 201}, "Write 1 to 200 characters."),
        ({"text": "a", "at": "soon"}, "Enter a date and a time"),
        ({"text": "a", "at": "1999-01-01T00:00"}, "between the year 2000"),
        ({"text": "a", "at": "2999-01-01T00:00"}, "between the year 2000"),
        ({"text": "a", "url": "javascript:alert(1)"}, "begins with https:// or http://"),
        ({"text": "a", "url": "https://ci.example/run 17"}, "It holds no space"),
        ({"text": "a", "url": f"https://ci.example/{'x' * 2000}"}, "A link has at most"),
    ],
)
def test_a_refused_form_shows_the_reason_and_keeps_the_input(editor, form, words):
    html = editor.post(f"{PAGE}/add", form).content.decode()
    assert words in html
    assert form["text"].strip()[:20] in html
    assert not Annotation.objects.exists()
    assert actions() == []


def test_a_refused_change_shows_its_form_again_as_it_was_filled_in(editor, api):
    api.post("/api/annotations", {"text": "Deploy 4.2"})
    row = Annotation.objects.get()
    form = {"text": "Deploy 4.3", "url": "example.com"}
    html = editor.post(f"{PAGE}/{row.pk}/change", form).content.decode()
    assert "begins with https:// or http://" in html
    change = html.partition(f'action="{PAGE}/{row.pk}/change"')[2].partition("</form>")[0]
    assert 'value="Deploy 4.3"' in change
    assert 'value="example.com"' in change
    assert "Deploy 4.3" not in html.replace(change, "")  # above all not in the form that adds an annotation
    row.refresh_from_db()
    assert row.text == "Deploy 4.2"


def test_every_link_of_the_page_after_a_refused_form_leads_to_a_page(editor, api):
    api.post("/api/annotations", {"text": "Deploy 4.2"})
    for address in (f"{PAGE}/add?range=7d", f"{PAGE}/{Annotation.objects.get().pk}/change?range=7d"):
        html = editor.post(address, {"text": "Deploy 4.2", "url": "no address"}).content.decode()
        links = {unescape(link) for link in re.findall(r'(?:href|data-copy-link)="([^"#]+)[^"]*"', html)}
        pages = {urljoin(address, link) for link in links if link.startswith(("?", "/w/"))}
        assert f"{PAGE}?range=30d" in pages
        assert {link: status for link in pages if (status := editor.get(link).status_code) != 200} == {}
        assert f'<form method="get" action="{PAGE}"' in html


def test_the_page_after_a_refused_form_does_not_refresh_itself_at_the_address_of_the_form(editor):
    assert "data-live>" in read(editor, PAGE)
    assert "data-live>" not in editor.post(f"{PAGE}/add", {"text": ""}).content.decode()


def test_a_viewer_sees_no_forms(workspace, api):
    api.post("/api/annotations", {"text": "Deploy 4.2"})
    row = Annotation.objects.get()
    html = read(sign_in_as(Membership.VIEWER, workspace), f"{PAGE}?change={row.pk}&delete={row.pk}")
    assert "Deploy 4.2" in html
    assert '<form method="post" class="in' not in html
    assert "Add an annotation" not in html


def test_an_annotation_of_another_environment_cannot_be_changed(editor, api):
    api.post("/api/annotations", {"text": "Deploy", "environment": "staging"})
    row = Annotation.objects.get()
    assert "Delete “" not in read(editor, f"{PAGE}?delete={row.pk}")
    assert "Delete “" not in read(editor, f"{PAGE}?delete=x")
    for action in ("change", "delete"):
        assert editor.post(f"{PAGE}/{row.pk}/{action}", {"text": "x"}).status_code == 404
    assert Annotation.objects.get().text == "Deploy"


CHARTS = {
    "overview": ["outcomes-over-time"],
    "outcomes": ["outcomes-chart"],
    "outcome": ["key-chart"],
    "joins": ["rates", "rates-by-key"],
    "rejections": ["rejections-chart"],
}


@pytest.mark.parametrize("page", CHARTS)
def test_every_chart_marks_and_lists_an_annotation_and_the_page_exports_it(browser_client, workspace, api, page):
    start = fill_workspace(workspace, api)
    create_key(workspace.workspace, ["report"], actor="ada", now=timezone.now())
    second_key = workspace.workspace.api_keys.latest("id")
    production = workspace.workspace.environments.get(name="production")
    record_outcomes(production, [Report("gone", "purchase")], reported_by=second_key.pk, now=timezone.now())
    address = f"{start}/{page}?key=purchase&range=24h"
    before = browser_client.get(address)
    api.post("/api/annotations", {"text": "Deploy <b>4.2</b>", "url": "https://example.com/4.2"})
    after = browser_client.get(address, headers={"If-None-Match": before["ETag"]})
    assert after.status_code == 200
    html = after.content.decode()
    for chart in CHARTS[page]:
        assert texts_of(html, chart) == {"Deploy 4.1", "Deploy <b>4.2</b>"}, chart
    assert html.count("Deploy &lt;b&gt;4.2&lt;/b&gt;</a>") == 1
    tables = json.loads(b"".join(browser_client.get(f"{start}/{page}.json?key=purchase&range=24h")))["tables"]
    assert [row["text"] for row in tables["annotations"]] == ["Deploy <b>4.2</b>", "Deploy 4.1"]


def test_a_chart_without_a_time_axis_has_no_marks(browser_client, workspace, api):
    start = fill_workspace(workspace, api)
    api.post("/api/annotations", {"text": "Deploy"})
    assert marks_of(read(browser_client, f"{start}/outcome?key=purchase"), "lag-chart") == []


def test_breaking_drift_is_marked_automatically_with_a_link(browser_client, workspace, api):
    start = fill_workspace(workspace, api)
    production = workspace.workspace.environments.get(name="production")
    operation = production.operations.get(path="/orders/{orderId}")
    common = {"operation": operation, "environment": production, "version": 2, "part": "200", "seen": 1}
    now = timezone.now()
    for kind, breaks in (("gone", "consumer"), ("new", "")):
        Drift.objects.create(**common, at=now, since=now, kind=kind, pointer=f"/{kind}", breaks=breaks)
    html = read(browser_client, f"{start}/outcomes?range=30d")
    assert texts_of(html, "outcomes-chart") == {"Deploy 4.1", "GET /orders/{orderId}: /gone removed"}
    assert "drift" in [mark["kind"] for mark in marks_of(html, "outcomes-chart")]
    address = f"{start}/change?range=30d&id={Drift.objects.get(kind='gone').pk}"
    assert f'<a href="{address.replace("&", "&amp;")}">' in html
    assert browser_client.get(address).status_code == 200


def test_below_a_chart_the_latest_annotations_are_listed_and_the_rest_is_counted(browser_client, workspace, api):
    start = fill_workspace(workspace, api)
    production = workspace.workspace.environments.get(name="production")
    at = timezone.now() - timedelta(hours=1)
    rows = [
        Annotation(workspace=workspace.workspace, environment=production, at=at, text=f"Deploy {n}") for n in range(250)
    ]
    Annotation.objects.bulk_create(rows)
    html = read(browser_client, f"{start}/outcomes")
    assert sum(mark["count"] for mark in marks_of(html, "outcomes-chart")) == 200
    assert "197 more; older ones are not listed" in html


def test_breaking_drift_does_not_displace_annotations_below_a_chart(browser_client, workspace, api):
    start = fill_workspace(workspace, api)
    production = workspace.workspace.environments.get(name="production")
    operation, now = production.operations.get(path="/orders/{orderId}"), timezone.now()
    at = now - timedelta(hours=2)
    Annotation.objects.create(workspace=workspace.workspace, environment=production, at=at, text="Deploy 5.0")
    for number in range(4):
        Drift.objects.create(
            environment=production, operation=operation, version=2, at=now, since=now, part="200", kind="gone",
            pointer=f"/field{number}", breaks="consumer", seen=0,
        )  # fmt: skip
    html = read(browser_client, f"{start}/outcomes").partition('class="chart-events"')[2]
    assert html.count("Breaking drift detected:") == 4
    assert html.index("Deploy 5.0") < html.index("3 more")  # fill_workspace adds an annotation, too


def test_an_annotation_of_another_environment_or_workspace_is_on_no_chart(
    browser_client, workspace, other_workspace, api
):
    start = fill_workspace(workspace, api)
    api.post("/api/annotations", {"text": "Elsewhere", "environment": "staging"})
    api.post("/api/annotations", {"text": "Elsewhere", "allEnvironments": True}, key=other_workspace.full_key)
    assert "Elsewhere" not in read(browser_client, f"{start}/outcomes")
    assert "Elsewhere" not in read(browser_client, f"{start}/annotations?range=all")


def test_a_long_list_of_annotations_has_pages_and_a_short_one_does_not(browser_client, workspace):
    production, now = workspace.workspace.environments.get(name="production"), timezone.now()
    for number in range(ROWS_PER_PAGE):
        add_annotation(production, f"Deploy {number}", now)
    assert 'class="pages"' not in read(browser_client, PAGE)
    add_annotation(production, "The first of all", now - timedelta(days=1))
    newer = read(browser_client, PAGE)
    (older_link,) = re.findall(r'href="(\?[^"]*page=2)#list" rel="next">Older<', newer)
    assert f"1 to {ROWS_PER_PAGE} of {ROWS_PER_PAGE + 1}" in newer
    assert "The first of all" not in newer
    older = read(browser_client, PAGE + unescape(older_link))
    assert "The first of all" in older
    assert re.search(r'href="\?[^"]*page=1#list" rel="prev">Newer<', older)


def add_annotation(environment, text, at):
    Annotation.objects.create(workspace=environment.workspace, environment=environment, text=text, at=at)
