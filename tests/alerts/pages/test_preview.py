"""Before an alert is saved, its page shows when it would have fired in the last 30 days."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from alerts.models import Alert
from catalog.models import Drift, ReporterActivity
from intents.models import ALL_VERSIONS, VerificationRollup
from intents.reports.verification import ACCEPTED
from tests.alerts.pages.alert_pages import LOG, PAGE, break_operation, read
from tests.catalog.reports import deliver, environment_of, observation
from wire.time.period import floor_to_quarter

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("kind", "words"),
    [("reporter.silent", "No reporter"), ("rejections.spike", "No verification"), ("broken-joins.spike", "No outcome")],
)
def test_where_nothing_was_observed_the_preview_gives_no_verdict(admin, api, workspace, kind, words):
    deliver(api, workspace, observation(response={"id": 1}))
    text = read(admin, f"{PAGE}?kind={kind}&environment=staging")
    assert f"{words} in staging yet" in text
    assert "Would not have fired" not in text
    assert 'id="alert-days"' not in text


def test_before_saving_the_preview_shows_when_the_alert_would_have_fired(admin, api, workspace, target):
    break_operation(api, workspace)
    text = read(admin, PAGE)
    assert "Would have fired 1 time in the last 30 days" in text
    assert "Breaking drift in production: GET /orders/{orderId}, 200 /id" in text
    assert not Alert.objects.exists()
    Drift.objects.update(at=timezone.now() - timedelta(days=31))
    assert "Would not have fired" in read(admin, PAGE)
    text = read(admin, f"{PAGE}?kind=rejections.spike&minimum=5&minutes=15&percent=2&factor=1.5&environment=staging")
    assert "Rejected calls: 5 or more in 15 minutes, at least 2 % and 1.5 times the usual share, in staging" in text


def read_chart(client: Client, query: str = "") -> tuple[dict, list[str]]:
    """Return the figure of the preview, and the rows of its table that are not all 0."""
    text = read(client, f"{PAGE}{query}")
    (figure,) = re.findall(r'<script id="alert-days-figure" type="application/json">(.*?)</script>', text)
    days = re.findall(r'<tr> <th scope="row">[^<]*</th> (<td class="num">.*?)</tr>', text)
    cells = [" ".join(re.findall(r">([\d,.]+)<", day)) for day in days]
    return json.loads(figure), [row for row in cells if row != "0 0"]


def test_a_chart_shows_what_the_rule_counts_and_its_threshold(admin, api, workspace):
    break_operation(api, workspace)
    figure, rows = read_chart(admin)
    bars, diamonds = figure["data"]
    assert (len(bars["x"]), sum(bars["y"])) == (31, 1)
    assert diamonds["x"] == [bars["x"][bars["y"].index(1)]]
    assert [(shape["y0"], shape["y1"]) for shape in figure["layout"]["shapes"]] == [(1, 1)]
    assert rows == ["1 1"]


def test_the_chart_of_drift_counts_changes_and_not_only_those_that_fire(admin, api, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "total": 1})] * 30)
    deliver(api, workspace, *[observation(response={"id": "1", "total": "1"})] * 30)
    assert Drift.objects.count() == 2
    figure, rows = read_chart(admin)
    assert (sum(figure["data"][0]["y"]), rows) == (2, ["2 1"])


@pytest.mark.parametrize(("minimum", "firings"), [(5, 1), (9, 0)])
def test_the_chart_counts_cases_over_the_time_span_of_the_alert(admin, workspace, minimum, firings):
    quarter = floor_to_quarter(timezone.now()) - timedelta(days=3)
    for minutes, result, count in ((0, "expired", 4), (15, "expired", 4), (30, ACCEPTED, 9), (90, "expired", 3)):
        VerificationRollup.objects.create(
            environment=environment_of(workspace), grain="q", starts_at=quarter + timedelta(minutes=minutes),
            version=ALL_VERSIONS, result=result, shard=0, count=count,
            last_at=quarter,
        )  # fmt: skip
    query = f"?kind=rejections.spike&environment=production&minutes=60&minimum={minimum}&percent=1&factor=3"
    figure, _ = read_chart(admin, query + "&reason_minimum=1&silent_minutes=60")
    assert max(figure["data"][0]["y"]) == 8
    text = read(admin, f"{PAGE}{query}&reason_minimum=1&silent_minutes=60&range=30d&tz=Asia/Kathmandu")
    assert re.search("Highest: 8 on [^(]+ \\(100 %, usual 0 %\\)\\.", text)
    judged = re.search(r'Judged up to <time datetime="([^"]+)"', text)
    assert judged is not None
    age = timezone.now() - datetime.fromisoformat(judged[1])
    assert timedelta(minutes=2) <= age <= timedelta(minutes=17, seconds=30)
    assert re.search(r'<td class="num">8</td> <td class="num">100 %</td> <td class="num">0 %</td>', text)
    assert len(figure["data"][1]["x"]) == firings
    assert figure["layout"]["shapes"][0]["y0"] == minimum
    offer = re.search(r'<a href="([^"]+)">A minimum of 5 in place of 9</a> would have fired 1 time\.', text)
    assert (offer is not None) == (not firings)
    if offer:
        lower = read(admin, unescape(offer[1]))
        assert "Would have fired 1 time in the last 30 days" in lower
        assert 'name="minimum" value="5"' in lower
        assert "in place of" not in lower
        assert "Times in Asia/Kathmandu" in lower
        assert f'href="{LOG}?range=30d&amp;tz=Asia%2FKathmandu"' in lower


@pytest.mark.parametrize(("days", "is_offered"), [(9, True), (12, False)])
def test_no_lower_minimum_is_offered_that_would_fire_all_the_time(admin, workspace, days, is_offered):
    noon = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
    VerificationRollup.objects.bulk_create(
        VerificationRollup(
            environment=environment_of(workspace), grain="q", starts_at=noon - timedelta(days=2 * day, hours=hours),
            version=ALL_VERSIONS, result=result, shard=0, count=count, last_at=noon - timedelta(days=2 * day),
        )
        for day in range(1, days + 1)
        for hours, result, count in ((0, "expired", 4), (6, ACCEPTED, 1000))
    )  # fmt: skip
    query = "?kind=rejections.spike&environment=production&minutes=60&minimum=9&percent=1&factor=3"
    text = read(admin, f"{PAGE}{query}&reason_minimum=1&silent_minutes=60")
    assert ("in place of 9</a> would have fired 9 times." in text) is is_offered
    assert ("in place of" in text) is is_offered


@pytest.mark.parametrize("is_usual", [True, False])
def test_a_preview_of_silence_says_why_bars_above_the_line_did_not_fire(admin, workspace, is_usual):
    now = floor_to_quarter(timezone.now())
    hours = range(2, 200, 5) if is_usual else [2, 2.25, 2.5, 2.75, 3]
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=environment_of(workspace), reporter="shop", starts_at=now - timedelta(hours=hour))
        for hour in hours
    )
    text = read(admin, f"{PAGE}?kind=reporter.silent&environment=production&silent_minutes=60")
    assert "longer than any pause of the reporter's 15 days before" in text
    assert ("Would not have fired" in text) is is_usual
    assert ("Here each silence was usual" in text) is is_usual
    assert ("Longest: shop, 4.75 h, " in text) is is_usual


def test_a_preview_of_silence_names_the_reporter_of_each_longest_silence(admin, workspace):
    now = floor_to_quarter(timezone.now())
    production = environment_of(workspace)
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=production, reporter=reporter, starts_at=now - timedelta(hours=hour))
        for reporter, pause in (("shop", 5), ("<b>job</b>", 7))
        for hour in range(2, 200, pause)
    )
    query = "?kind=reporter.silent&environment=production&silent_minutes=60"
    figure, _days = read_chart(admin, query)
    bars, _ = figure["data"]
    assert "&lt;b&gt;job&lt;/b&gt;, 6.75 h" in bars["text"]
    assert bars["hovertemplate"] == "%{text}<extra></extra>"
    text = read(admin, f"{PAGE}{query}")
    assert re.search(r'<td class="num">6.75</td> <td[^>]*>&lt;b&gt;job&lt;/b&gt;</td>', text)
    assert '<th scope="col">Reporter</th>' in text
    assert "Longest: &lt;b&gt;job&lt;/b&gt;, 6.75 h, " in text
    assert '<th scope="col">Reporter</th>' not in read(admin, f"{PAGE}?kind=rejections.new-reason")


def test_no_lower_number_is_offered_where_none_would_have_fired(admin):
    assert "in place of" not in read(admin, f"{PAGE}?kind=rejections.spike&minimum=20")
    assert "in place of" not in read(admin, f"{PAGE}?kind=rejections.new-reason&reason_minimum=20")
    assert "in place of" not in read(admin, f"{PAGE}?kind=rejections.spike&minimum=x")


def test_the_preview_shows_a_small_threshold_as_it_was_typed(admin, api):
    api.post("/api/conversation-outcomes", {"outcomes": [{"conversationId": "undefined", "outcomeKey": "purchase"}]})
    text = read(admin, f"{PAGE}?kind=broken-joins.spike&percent=0.004&factor=1.125")
    assert "Also needed: 0.004 % of all and 1.125 times the usual share." in text


def test_the_preview_of_the_form_keeps_the_period_of_the_page(admin):
    page = admin.get(f"{PAGE}?range=24h&tz=Asia/Kathmandu&kind=drift.breaking").content.decode()
    form = page[page.index('id="alert-form"') : page.index("</form>", page.index('id="alert-form"'))]
    inputs = re.findall(r'<input type="hidden" name="([a-z]+)" value="([^"]*)">', form)
    assert inputs == [("range", "24h"), ("tz", "Asia/Kathmandu")]
