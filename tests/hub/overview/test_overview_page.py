"""The overview of a period: its heading, the first data, the latest drift, and the banner of the sample."""

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.models import Drift
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.catalog.reports import deliver, observation
from tests.hub.overview.overview_page import PAGE, add_data_of_last_year, break_orders, report_outcomes
from tests.sample_data import fill_workspace
from workspaces.models import SampleWorkspace


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "Production, last 7 days"),
        ("?range=24h", "Production, last 24 hours"),
        ("?range=12m", "Production, last 12 months"),
        ("?range=all", "Production, all time"),
        ("?from=2026-01-05&to=2026-01-06", "Production, 5 Jan – 6 Jan 2026"),
    ],
)
def test_the_heading_names_the_days_that_are_shown(overview, api, query, words):
    report_outcomes(api, "conv_1")
    assert f"<h1>{words}" in overview(query)


def test_the_heading_names_the_environment_as_the_menu_does(overview, workspace):
    environment = workspace.workspace.environments.get(name="production")
    environment.label = "live shop"
    environment.save()
    page = overview()
    assert "<h1>Live shop</h1>" in page
    assert '<b class="cut">live shop</b>' in page


def test_the_latest_drift_says_in_how_many_observations_a_change_was_seen(overview, api, workspace):
    break_orders(api, workspace)
    change = Drift.objects.get(kind="type")
    Drift.objects.filter(pk=change.pk).update(seen=3, of=21)
    assert "3 of 21" not in overview()  # these count the presence of the field, not the new type
    for seen, of, words in ((3, 21, "in 3 of 21 answers"), (1, None, "1 time"), (2, None, "2 times")):
        Drift.objects.filter(pk=change.pk).update(kind="new", seen=seen, of=of, matching=None)
        assert f'<span class="nowrap">{words}</span> when detected' in overview()


def test_the_overview_says_how_long_a_property_was_absent(overview, api, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x"})] * 30)
    deliver(api, workspace, *[observation(response={"id": 1})] * 30)
    assert "absent 30 times in a row when detected" in overview()


@pytest.mark.parametrize("span", ["24h", "7d", "30d", "all"])
def test_the_head_names_once_what_the_tiles_are_compared_with(overview, api, workspace, span):
    assert api.post("/api/conversations", {"conversations": [{"conversationId": "conv_1"}]}).status_code == 200
    periods = {"24h": "the same hours a week before", "7d": "the 7 days before", "30d": r"\d+ \w+ – \d+ \w+ \d{4}"}
    add_data_of_last_year(workspace, api)
    page = overview(f"?range={span}")
    if span == "all":
        assert "compared with" not in page
        return
    assert len(re.findall(f">compared with {periods[span]}", page)) == 1
    tiles = page.partition('aria-label="Facts"')[2].partition("</section>")[0]
    assert "none before" in tiles
    assert "against" not in tiles


def test_a_period_that_has_nothing_to_compare_with_says_why(overview, workspace):
    production, now = workspace.workspace.environments.get(name="production"), timezone.now()
    register_conversations(production, [Arrival("c1", now - timedelta(days=32)), Arrival("c2")], now=now)
    page = overview("?range=30d")
    assert "no comparison: no data before <time" in page
    assert "data since" not in page


def test_a_period_without_data_says_so_and_when_data_begin(overview, api, workspace):
    fill_workspace(workspace, api)
    page = overview("?from=2020-01-01&to=2020-01-02")
    assert "Nothing was reported in this period" in page
    assert "No data before" in page
    assert 'aria-label="What needs attention"' not in page
    assert "No verifications were reported in this period" in page
    assert "verified calls of this period was rejected" not in page


@pytest.mark.parametrize("range_", ["12m", "all"])
def test_charts_and_their_tables_begin_with_the_first_data(overview, browser_client, api, range_):
    started_at = timezone.now() - timedelta(days=5)
    conversations = [{"conversationId": "c1", "startedAt": started_at.timestamp()}]
    assert api.post("/api/conversations", {"conversations": conversations}).status_code == 200
    report_outcomes(api, "c1")
    page = overview(f"?range={range_}")
    assert "data since" in page
    series = json.loads(browser_client.get(f"{PAGE}.json?range={range_}").getvalue())["tables"]["series"]
    assert [row["conversations"] for row in series] == [1, 0, 0, 0, 0, 0]
    assert "No data before" not in overview("?range=24h")


@pytest.mark.parametrize(("days", "words"), [(12, "18 of 30 days are missing"), (30, "sends it live traffic")])
def test_the_banner_of_the_sample_says_whether_its_history_is_complete(overview, workspace, days, words):
    SampleWorkspace.objects.create(workspace=workspace.workspace, made_at=timezone.now(), days=days)
    page = overview()
    assert "This is a sample workspace." in page
    assert [text in page for text in ("days are missing", "sends it live traffic")] == [days < 30, days == 30]
    assert words in page


def test_the_head_says_when_the_first_data_came_not_when_its_quarter_hour_began(overview, production):
    now = timezone.now()
    quarter = now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0) - timedelta(hours=1)
    first = quarter + timedelta(minutes=8)
    production.workspace.environments.update(created_at=quarter + timedelta(minutes=3))
    register_conversations(production, [Arrival("c1", quarter + timedelta(minutes=4))], now=first)
    assert f">{quarter + timedelta(minutes=3):%a %-d %b, %H:%M}</time>" in overview("?range=7d&tz=UTC")
    record_outcomes(production, [Report("c1", "purchase")], now=first)
    assert re.search(r"data since <time[^>]*>([^<]*)<", overview("?range=7d&tz=UTC"))[1].endswith(f"{first:%H:%M}")
    record_verifications(production, [Verification("accepted", first - timedelta(minutes=2))])
    since = first - timedelta(minutes=2)
    assert re.search(r"data since <time[^>]*>([^<]*)<", overview("?range=7d&tz=UTC"))[1].endswith(f"{since:%H:%M}")
