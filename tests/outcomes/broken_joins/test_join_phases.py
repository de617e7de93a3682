"""The broken rate before and after each annotation, on the page and in its downloads."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.page_text import read_html
from tests.read_tables import read_rows, read_tables
from wire.time.period import floor_to_quarter
from workspaces.models import Annotation

PAGE = "/w/lumen-books/production/joins"


def play(production, name, moment, *, known, unknown):
    """Report outcomes at a moment. `known` and `unknown` are the numbers of known and unknown conversations."""
    register_conversations(production, [Arrival(f"{name}{n}", moment) for n in range(known)], now=moment)
    ids = [*(f"{name}{n}" for n in range(known)), *(f"lost {name}{n}" for n in range(unknown))]
    record_outcomes(production, [Report(id_, "purchase") for id_ in ids], now=moment)


@pytest.fixture
def release(workspace):
    """Store a release three hours ago. Before it, 10 of 200 outcomes are broken joins; after it, 25 of 100."""
    production = workspace.workspace.environments.get(name="production")
    moment = floor_to_quarter(timezone.now() - timedelta(hours=3))
    play(production, "old", moment - timedelta(hours=2), known=190, unknown=10)
    play(production, "new", moment + timedelta(hours=1), known=75, unknown=25)
    return Annotation.objects.create(
        workspace=workspace.workspace, environment=production, at=moment, text="Release 5.0"
    )


def read_section(client, query="range=24h"):
    html = read_html(client.get(f"{PAGE}?{query}"))
    return html[html.index('id="phases"') :].partition("</section>")[0]


def test_page_and_downloads_say_whether_the_rate_changed_after_a_release(release, browser_client):
    latest, earlier = read_tables(browser_client.get(f"{PAGE}.json?range=24h"))["phases"]
    assert (latest["annotations"], latest["reported"], latest["brokenJoins"]) == (["Release 5.0"], 100, 25)
    assert (earlier["annotations"], earlier["reported"], earlier["brokenJoins"]) == ([], 200, 10)
    assert (latest["ratePoints"], latest["mayBeChance"], latest["healingShare"]) == (20.0, False, 0)
    assert (earlier["ratePoints"], earlier["mayBeChance"]) == (None, None)
    assert latest["startsAt"] == earlier["endsAt"] == release.at.timestamp()
    line, _ = read_rows(browser_client.get(f"{PAGE}.csv?range=24h&table=phases"))
    assert (line["annotations"], line["brokenJoins"]) == ('["Release 5.0"]', "25")
    section = read_section(browser_client)
    for text in ("Release 5.0", "25.0 %", "5.0 %", "+20.0"):
        assert text in section
    for tag in ("too early to tell", "may be chance"):
        assert tag not in section


def test_a_small_difference_may_be_chance(release, browser_client):
    play(release.environment, "again", release.at - timedelta(hours=1), known=10, unknown=2)
    Annotation.objects.create(workspace=release.workspace, at=release.at - timedelta(hours=1), text="Campaign")
    assert read_section(browser_client).count("may be chance") == 2  # broken: 10 of 200, 2 of 12, 25 of 100
    campaign = read_tables(browser_client.get(f"{PAGE}.json?range=24h"))["phases"][1]
    assert (campaign["annotations"], campaign["mayBeChance"]) == (["Campaign"], True)


def test_it_is_too_early_to_tell_while_many_broken_joins_will_still_heal(release, browser_client):
    """Joins of this environment usually heal after five hours, and the release was three hours ago."""
    production, healed = release.environment, [f"late {n}" for n in range(20)]
    record_outcomes(
        production, [Report(id_, "purchase") for id_ in healed], now=release.at - timedelta(hours=2, minutes=30)
    )
    now = release.at + timedelta(hours=2, minutes=30)
    register_conversations(production, [Arrival(id_, now) for id_ in healed], now=now)
    latest, earlier = browser_client.get(f"{PAGE}?range=24h").context["phases"]
    assert latest.is_too_early
    assert not earlier.is_too_early
    assert read_section(browser_client).count("too early to tell") == 1
    latest, _ = read_tables(browser_client.get(f"{PAGE}.json?range=24h"))["phases"]
    assert latest["healingShare"] > 0.1


def test_the_filter_on_a_key_does_not_narrow_the_phases(release, browser_client):
    assert read_section(browser_client, "range=24h&key=renewal") == read_section(browser_client).replace(
        "range=24h", "range=24h&amp;key=renewal"
    )


@pytest.mark.parametrize("range_", ["24h", "7d", "90d", "all"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_phases_add_up_to_the_period(release, browser_client, range_, zone):
    for days in (0.5, 3, 40, 200):
        moment = timezone.now() - timedelta(days=days)
        play(release.environment, f"{days} ", moment, known=3, unknown=2)
        Annotation.objects.create(workspace=release.workspace, at=moment + timedelta(hours=1), text=f"{days}")
    context = browser_client.get(f"{PAGE}?range={range_}&tz={zone}").context
    phases, totals = [change.phase for change in context["phases"]], context["totals"]
    assert sum(phase.total for phase in phases) == totals.reported_outcomes
    assert sum(phase.count for phase in phases) == totals.broken


def test_without_annotations_or_reports_there_are_no_phases(release, browser_client):
    empty = browser_client.get(f"{PAGE}?from=2020-01-01&to=2020-01-02")
    assert 'id="phases"' not in empty.content.decode()
    release.delete()
    page = browser_client.get(f"{PAGE}?range=24h")
    assert not page.context["phases"]
    assert 'id="phases"' not in page.content.decode()
    assert read_tables(browser_client.get(f"{PAGE}.json?range=24h"))["phases"] == []


def test_annotations_of_another_environment_and_workspace_begin_no_phase(
    release, workspace, other_workspace, browser_client
):
    staging = workspace.workspace.environments.get(name="staging")
    Annotation.objects.create(workspace=workspace.workspace, environment=staging, at=release.at, text="Staging only")
    Annotation.objects.create(workspace=other_workspace.workspace, at=release.at, text="Another workspace")
    phases = read_tables(browser_client.get(f"{PAGE}.json?range=24h"))["phases"]
    assert [row["annotations"] for row in phases] == [["Release 5.0"], []]
    stranger = Client(headers={"x-service-api-key": other_workspace.full_key})
    assert stranger.get(f"{PAGE}.json").status_code == 404
