"""Pages call an environment by its label, as the menu does; addresses and machines by its name."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.broken_joins.moves.move import move_broken_joins
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.page_text import read_html
from tests.read_tables import read_tables
from wire.time.period import parse_period
from workspaces.environments.change import archive_environment
from workspaces.models import ApiKey

pytestmark = pytest.mark.django_db
PAGES = {
    "catalog": "as observed in Live",
    "rules": "All manual overrides in Live",
    "drift": "What changed in the API of Live",
    "difference?against=staging": "No operations have been observed in Live and Test.",
    "difference": "Compare Live with Test",
    "joins": "whose conversation is not known in Live",
    "search?q=nothing": "Nothing matches in Live",
    "annotations": "Events that every chart of Live marks",
}


@pytest.fixture
def start(workspace: Any) -> str:
    for name, label in (("production", "Live"), ("staging", "Test")):
        workspace.workspace.environments.filter(name=name).update(label=label)
    return f"/w/{workspace.workspace.slug}/production"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_calls_its_environment_by_the_label(browser_client, start, page):
    text = " ".join(strip_tags(browser_client.get(f"{start}/{page}").content.decode()).split())
    assert PAGES[page] in text, text


def test_the_choice_of_what_to_compare_with_shows_the_label_and_sends_the_name(browser_client, api, start):
    outcomes = [{"conversationId": "conv_1", "outcomeKey": "purchase"}]
    assert api.post("/api/conversation-outcomes", {"outcomes": outcomes}).status_code == 200
    page = read_html(browser_client.get(f"{start}/outcomes"))
    assert '<option value="staging">Test</option>' in page


@pytest.fixture
def elsewhere(workspace: Any, start: str) -> str:
    """Store broken joins of production that staging knows, a move to it, and a tool call in both environments."""
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    now = timezone.now()
    register_conversations(production, [Arrival("conv_1")], now=now - timedelta(hours=3))
    register_conversations(staging, [Arrival("s1"), Arrival("s2"), Arrival("Twin")], now=now - timedelta(hours=3))
    record_outcomes(staging, [Report("s2", "purchase")], now=now - timedelta(hours=2))
    record_outcomes(production, [Report("s1", "purchase")], now=now - timedelta(hours=2))
    move_broken_joins(production, staging, parse_period({}, now=now), actor="ann", now=now - timedelta(hours=1))
    reports = [Report(id_, "purchase") for id_ in ("s1", "s2", "twin", "conv_1")]
    record_outcomes(production, reports, now=now - timedelta(minutes=30))
    record_outcomes(staging, [Report("conv_1", "purchase")], now=now - timedelta(minutes=20))
    for environment in (production, staging):
        calls = [Verification("expired", now, 2, "POST /refunds", "call_81")]
        record_verifications(environment, calls)
    record_verifications(staging, [Verification("expired", now, 2, "POST /refunds", "call_82")])
    return start


@pytest.mark.parametrize(("page", "words"), [
    ("joins", "is known in Test"),
    ("joins", "Move to Test…"),
    ("joins", "from Live to Test"),
    ("joins?why=other-environment&in=staging", "other environment, Test"),
    ("joins?why=other-environment&in=staging", "are known in Test. They become outcomes of Test,"),
    ("joins?why=other-environment&in=production", "the cause “other environment, Live”"),
    ("joins?done=moved&move={move}", "1 moved to Test. Test counts them"),
    ("overview", "are of conversations of Test, reported to Live"),
    ("outcomes?compare=staging", "Share, Test"),
    ("outcome?key=purchase&compare=staging", "in Test"),
    ("conversation?id=s1", "Known: s1 in Test"),
    ("conversation?id=s1", "started in Test"),
    ("conversation?id=s1", "to move them to Test"),
    ("conversation?id=conv_1", "as conv_1 in Test, a broken join"),
    ("conversation?id=conv_1", "conv_1 in Test"),
    ("conversation?id=Twin", "It is known in Test."),
    ("toolcall?id=call_81", "This tool call is also stored in Test,"),
    ("toolcall?id=call_82", "It is known in Test."),
    ("toolcall?id=call_82", "Open it in Test"),
    ("conversation?id=Twin", "Open it in Test"),
    ("search?q=s2", "known in Test"),
])  # fmt: skip
def test_a_page_calls_another_environment_by_the_label(browser_client, elsewhere, workspace, page, words):
    move = workspace.workspace.environments.get(name="staging").moves_here.get().pk
    html = browser_client.get(f"{elsewhere}/{page.format(move=move)}").content.decode()
    text = " ".join(strip_tags(html).split())
    assert words in text, text
    assert "staging" not in text
    assert re.findall(r'(?:aria-label|data-is|title)="[^"]*staging[^"]*"', html) == []


def test_the_uses_of_keys_name_environments_by_their_labels(browser_client, elsewhere, workspace):
    key = ApiKey.objects.filter(workspace=workspace.workspace, kind=ApiKey.SECRET).first()
    staging = workspace.workspace.environments.get(name="staging")
    record_outcomes(staging, [Report("s9", "a")], reported_by=key.pk, now=timezone.now())
    text = " ".join(strip_tags(browser_client.get(f"{elsewhere}/keys").content.decode()).split())
    assert "Test 1 1 0" in text


def test_downloads_name_an_environment_by_its_name(browser_client, elsewhere):
    joins = read_tables(browser_client.get(f"{elsewhere}/joins.json"))
    assert {row["foundIn"] for row in joins["broken"]} == {"staging"}
    assert {row["name"] for row in joins["rates"]} == {"production", "staging"}
    assert [(row["from"], row["to"]) for row in joins["moves"]] == [("production", "staging")]
    events = read_tables(browser_client.get(f"{elsewhere}/conversation.json?id=conv_1"))["events"]
    assert "as conv_1 in staging, a broken join" in {row["detail"] for row in events}


def test_a_diagnosis_names_an_archived_environment_by_its_label_too(browser_client, elsewhere, workspace):
    staging = workspace.workspace.environments.get(name="staging")
    archive_environment(staging, actor="ann", now=timezone.now())
    text = " ".join(strip_tags(browser_client.get(f"{elsewhere}/joins").content.decode()).split())
    assert "Test is archived: it refuses reports until it is restored." in text


def test_labels_are_looked_up_without_a_query_for_each_row(
    browser_client, elsewhere, workspace, django_assert_max_num_queries
):
    production = workspace.workspace.environments.get(name="production")
    with django_assert_max_num_queries(1_000) as few:
        browser_client.get(f"{elsewhere}/joins")
    record_outcomes(production, [Report("s2", f"key-{number}") for number in range(40)], now=timezone.now())
    with django_assert_max_num_queries(len(few)):
        html = browser_client.get(f"{elsewhere}/joins").content.decode()
    assert html.count(">Test</a>") > 10
