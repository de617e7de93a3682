"""The share of conversations that reached a key, before and after each annotation."""

from datetime import timedelta

import pytest
from django.utils import timezone

from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.page_text import read_html
from tests.read_tables import read_tables
from wire.time.period import floor_to_quarter
from workspaces.annotations.phase_comparison import MAX_PHASES
from workspaces.models import Annotation

PAGE = "/w/lumen-books/production/outcome"


@pytest.fixture
def release(workspace):
    """Store a release three hours ago. 20 of 100 conversations before it reached `purchase`, 30 of 50 after it."""
    production, now = workspace.workspace.environments.get(name="production"), timezone.now()
    moment = floor_to_quarter(now - timedelta(hours=3))
    arrivals = [Arrival(f"old{n}", moment - timedelta(hours=2)) for n in range(100)]
    arrivals += [Arrival(f"new{n}", moment + timedelta(hours=1)) for n in range(50)]
    register_conversations(production, arrivals, now=now)
    ids = [*(f"old{n}" for n in range(20)), *(f"new{n}" for n in range(30))]
    record_outcomes(production, [Report(id_, "purchase") for id_ in ids], now=now)
    return Annotation.objects.create(
        workspace=workspace.workspace, environment=production, at=moment, text="Release 5.0"
    )


def test_page_and_downloads_show_how_a_release_changed_the_share(release, browser_client):
    query = {"key": "purchase", "range": "24h"}
    tables = read_tables(browser_client.get(f"{PAGE}.json", query))
    latest, earlier = tables["phases"]
    assert (latest["annotations"], latest["conversations"], latest["reached"]) == (["Release 5.0"], 50, 30)
    assert (earlier["annotations"], earlier["conversations"], earlier["reached"]) == ([], 100, 20)
    assert (latest["sharePoints"], earlier["sharePoints"]) == (40.0, None)
    assert (latest["mayBeChance"], earlier["mayBeChance"]) == (False, None)
    assert latest["startsAt"] == earlier["endsAt"] == release.at.timestamp()
    page = browser_client.get(PAGE, query)
    html = page.content.decode()
    section = html[html.index('id="phases"') :].partition("</section>")[0]
    for text in ("Release 5.0", "60.0 %", "20.0 %", "+40.0"):
        assert text in section
    assert sum(phase.total for phase in (change.phase for change in page.context["phases"])) == 150


def test_right_after_a_release_it_is_too_early_to_compare(release, browser_client):
    query = {"key": "purchase", "range": "24h"}
    latest, earlier = browser_client.get(PAGE, query).context["phases"]
    assert latest.is_too_early  # it began three hours ago, and its outcomes took two hours
    assert not earlier.is_too_early
    html = browser_client.get(PAGE, query).content.decode()
    assert html.count("too early to tell") == 1
    latest, earlier = read_tables(browser_client.get(f"{PAGE}.json", query))["phases"]
    assert latest["pendingShare"] > max(0.1, earlier["pendingShare"])


def test_only_the_latest_annotations_begin_a_phase(release, browser_client):
    for number in range(20):
        Annotation.objects.create(
            workspace=release.workspace, at=release.at - timedelta(hours=number + 1), text=f"Release 4.{number}"
        )
    environment = release.workspace.environments.get(name="production")
    register_conversations(environment, [Arrival("first", release.at - timedelta(days=2))], now=timezone.now())
    phases = browser_client.get(PAGE, {"key": "purchase", "range": "7d"}).context["phases"]
    assert len(phases) == MAX_PHASES
    assert sum(change.phase.total for change in phases) == 151


def test_an_annotation_is_listed_before_anything_can_be_compared_with_it(release, browser_client):
    end = release.at + timedelta(hours=2)
    record_outcomes(release.environment, [Report("new40", "purchase")], now=release.at + timedelta(minutes=70))
    deploy = Annotation.objects.create(workspace=release.workspace, at=end - timedelta(minutes=4), text="Release 5.1")
    query = {"key": "purchase", "from": (release.at - timedelta(hours=3)).isoformat(), "to": end.isoformat()}
    html = read_html(browser_client.get(PAGE, query))
    section = html[html.index('id="phases"') :].partition("</section>")[0]
    assert f"compared from {end:%H:%M} on" in section
    assert f"{deploy.at:%H:%M}</time>" in section
    ahead, latest, _ = read_tables(browser_client.get(f"{PAGE}.json", query))["phases"]
    names = ("endsAt", "conversations", "reached", "share", "sharePoints", "mayBeChance", "pendingShare")
    assert (ahead["startsAt"], ahead["annotations"]) == (end.timestamp(), ["Release 5.1"])
    assert [ahead[name] for name in names] == [None] * len(names)
    assert (latest["endsAt"], latest["share"]) == ((end - timedelta(minutes=15)).timestamp(), 0.62)


def test_only_words_of_the_table_are_explained_under_it(release, browser_client):
    query = {"key": "purchase", "range": "24h"}
    html = browser_client.get(PAGE, query).content.decode()
    assert "“Too early to tell” means" in html
    assert "“May be chance” means" not in html
    Annotation.objects.update(at=release.at - timedelta(hours=12))
    html = browser_client.get(PAGE, query).content.decode()
    assert "“Too early to tell” means" not in html


def test_without_annotations_there_are_no_phases(release, browser_client):
    Annotation.objects.all().delete()
    page = browser_client.get(PAGE, {"key": "purchase"})
    assert not page.context["phases"]
    assert 'id="phases"' not in page.content.decode()
