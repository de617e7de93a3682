"""One conversation's page lists everything stored about it, in order. For an unknown id, it says why, if it can."""

from __future__ import annotations

import json
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from outcomes.broken_joins.causes.diagnose import KnownConversation
from outcomes.broken_joins.diagnosed_joins import diagnose_joins, list_joins_naming
from outcomes.broken_joins.moves.move import find_movable, move_broken_joins
from outcomes.broken_joins.queries import find_broken_joins
from outcomes.conversations import views
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Conversation
from tests.page_text import read_html, read_unescaped_html
from wire.time.period import parse_period
from workspaces.models import Membership

pytestmark = pytest.mark.django_db
NOW = timezone.now() - timedelta(hours=2)
ALL = parse_period(QueryDict("range=all"), now=timezone.now())


def open_page(client: Any, start: str, conversation_id: str, *, status: int = 200) -> str:
    response = client.get(f"{start}/conversation", {"id": conversation_id})
    assert response.status_code == status, response.content
    return read_unescaped_html(response)


def load_tables(client: Any, start: str, conversation_id: str) -> Any:
    return json.loads(client.get(f"{start}/conversation.json", {"id": conversation_id}).getvalue())["tables"]


def test_the_page_lists_all_events_in_order(browser_client, start, production, workspace):
    key = workspace.workspace.api_keys.order_by("pk").first()
    record_outcomes(production, [Report("c1", "purchase")], reported_by=key.pk, now=NOW)
    register_conversations(production, [Arrival("c1", NOW - timedelta(minutes=5))], now=NOW + timedelta(minutes=1))
    record_outcomes(production, [Report("c1", "purchase"), Report("c1", "renewal")], now=NOW + timedelta(minutes=4))
    tables = load_tables(browser_client, start, "c1")
    assert [(event["event"], event["outcomeKey"]) for event in tables["events"]] == [
        ("started", ""),
        ("first reported", "purchase"),
        ("registered", ""),
        ("healed", "purchase"),
        ("last reported", "purchase"),
        ("first reported", "renewal"),
    ]
    assert {row["outcomeKey"]: (row["reports"], row["lagSeconds"]) for row in tables["outcomes"]} == {
        "purchase": (2, 300),
        "renewal": (1, 540),
    }
    page = open_page(browser_client, start, "c1")
    assert "2 outcomes</span>" in page
    assert f'title="{key}">' in page
    assert "healed</span>" in page


def test_the_pages_of_the_reported_and_of_the_meant_id_list_the_events_of_both(browser_client, start, production):
    register_conversations(production, [Arrival("conv_ab12", NOW)], now=NOW)
    record_outcomes(production, [Report('"conv_ab12"', "purchase")], now=NOW + timedelta(minutes=2))
    meant, reported = (load_tables(browser_client, start, name)["events"] for name in ("conv_ab12", '"conv_ab12"'))
    assert [(event["event"], event["detail"]) for event in meant] == [
        ("started and registered", ""),
        ("first reported", 'as "conv_ab12" in production, a broken join'),
    ]
    assert [(event["event"], event["detail"]) for event in reported] == [
        ("probably meant: a conversation that started in production", "conv_ab12"),
        ("first reported", "the conversation was not known"),
    ]


def test_a_broken_join_shows_its_diagnosis_and_where_the_id_is_known(browser_client, start, production, workspace):
    staging = workspace.workspace.environments.get(name="staging")
    register_conversations(staging, [Arrival("c2")], now=NOW)
    record_outcomes(production, [Report("c2", "purchase")], now=NOW)
    page = open_page(browser_client, start, "c2")
    assert "1 broken join<" in page
    assert "Cause: other environment" in page
    assert f'href="{start.replace("production", "staging")}/conversation?id=c2"' in page


def test_an_id_with_broken_joins_only_leads_back_to_them_and_has_no_time_after_a_start(
    browser_client, start, production
):
    register_conversations(production, [Arrival("c1", NOW)], now=NOW)
    record_outcomes(production, [Report("c1", "purchase"), Report("nobody", "purchase")], now=NOW)
    broken, known = (open_page(browser_client, start, name) for name in ("nobody", "c1"))
    assert f'href="{start}/joins">All broken joins</a>' in broken
    assert "All outcomes" not in broken
    assert "After start" not in broken
    assert f'href="{start}/outcomes">All outcomes</a>' in known
    assert "After start" in known


def test_a_moved_outcome_says_who_moved_it(browser_client, start, production, workspace):
    staging = workspace.workspace.environments.get(name="staging")
    record_outcomes(staging, [Report("c3", "purchase")], now=NOW)
    register_conversations(production, [Arrival("c3")], now=NOW)
    period = parse_period({}, now=timezone.now())
    assert find_movable(staging, production, period)
    move_broken_joins(staging, production, period, actor="ann", now=timezone.now())
    events = load_tables(browser_client, start, "c3")["events"]
    assert ("moved here", "from staging", "ann") in [(row["event"], row["detail"], row["by"]) for row in events]


def test_rows_link_to_the_page_of_their_conversation(browser_client, start, production):
    odd = 'a&b"<c>/é %'
    register_conversations(production, [Arrival(odd)], now=NOW)
    record_outcomes(production, [Report(odd, "purchase"), Report("nobody", "purchase")], now=NOW)
    row = browser_client.get(f"{start}/outcome", {"key": "purchase"}).content.decode()
    link = next(part for part in unescape(row).split('"') if "/conversation?id=" in part)
    assert "1 outcome<" in read_html(browser_client.get(link))
    assert "/conversation?id=nobody" in browser_client.get(f"{start}/joins").content.decode()


@pytest.mark.parametrize(
    ("conversation_id", "words"),
    [
        ("never", "No conversation with this id"),
        ("", "Name the conversation"),
        ("undefined", "a placeholder that was never filled in"),
        ("only-staging", "It is known in staging"),
        ("x" * 9000, "No conversation with this id"),
        ("\0", "Name the conversation"),
    ],
)
def test_the_page_of_an_unknown_id_says_so_within_the_workspace(
    browser_client, start, workspace, conversation_id, words
):
    staging = workspace.workspace.environments.get(name="staging")
    register_conversations(staging, [Arrival("only-staging")], now=NOW)
    page = open_page(browser_client, start, conversation_id, status=404)
    assert words in page
    assert "Broken joins" in page


def test_an_outsider_learns_nothing(browser_client, start, production, other_workspace):
    register_conversations(production, [Arrival("c1")], now=NOW)
    other = other_workspace.workspace.environments.get(name="production")
    stranger = get_user_model().objects.create_user("stranger")
    Membership.objects.create(workspace=other_workspace.workspace, user=stranger, role="admin")
    client = Client()
    client.force_login(stranger)
    assert client.get(f"{start}/conversation?id=c1").status_code == 404
    own = client.get(f"/w/{other.workspace.slug}/production/conversation?id=c1")
    assert own.status_code == 404
    assert "known in" not in own.content.decode()


def test_a_page_has_a_limited_number_of_rows_and_the_download_has_all(browser_client, start, production, monkeypatch):
    monkeypatch.setattr(views, "MAX_OUTCOMES", 2)
    register_conversations(production, [Arrival("c1")], now=NOW)
    record_outcomes(production, [Report("c1", f"key-{n}") for n in range(5)], now=NOW)
    page = open_page(browser_client, start, "c1")
    assert "The first 2 of 5; the download has all." in page
    assert len(load_tables(browser_client, start, "c1")["outcomes"]) == 5


def test_a_conversation_is_found_by_an_index_that_begins_with_the_environment(production):
    register_conversations(production, [Arrival(f"c{number}") for number in range(1_000)], now=NOW)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE outcomes_conversation")
    plan = Conversation.objects.filter(environment=production, conversation_id="c1").explain()
    assert f"Index Cond: ((environment_id = {production.pk}) AND ((conversation_id)::text = 'c1'::text))" in plan


def test_an_outcome_before_the_start_is_marked_on_its_pages(browser_client, start, production):
    register_conversations(production, [Arrival("early", NOW)], now=NOW)
    record_outcomes(production, [Report("early", "purchase")], now=NOW - timedelta(minutes=46, seconds=20))
    record_outcomes(production, [Report("early", "renewal")], now=NOW)
    page = open_page(browser_client, start, "early")
    assert ">46 min before the start</td>" in page
    assert ">under 1 s</td>" in page
    key_page = browser_client.get(f"{start}/outcome", {"key": "purchase"}).content.decode()
    assert key_page.count("46 min before the start") == 3  # in the row, in the facts, and above the chart
    assert "under 1 s" not in key_page


def test_the_page_links_to_the_cause_and_only_an_admin_may_delete(browser_client, start, production, workspace):
    record_outcomes(production, [Report("gone", "purchase")], now=NOW)
    page = open_page(browser_client, start, "gone")
    assert f'href="{start}/joins?why=never-seen&range=all#joins"' in page
    assert 'data-copy="conversation-id"' in page
    for role, is_offered in ((Membership.ADMIN, True), (Membership.EDITOR, False)):
        user = get_user_model().objects.create_user(f"{role} of conversations")
        Membership.objects.create(workspace=workspace.workspace, user=user, role=role)
        client = Client()
        client.force_login(user)
        assert ("Delete all reports of this id…" in open_page(client, start, "gone")) == is_offered
        form = {"subject": "conversation", "name": "gone", "environment": "production"}
        answer = client.post(f"{start}/retention/deletions", form)
        assert answer.status_code == (200 if is_offered else 403)
        assert Conversation.objects.filter(conversation_id="gone").exists()


def test_the_page_lists_the_broken_joins_that_probably_mean_its_conversation(
    browser_client, start, production, workspace
):
    staging = workspace.workspace.environments.get(name="staging")
    api_key = workspace.workspace.api_keys.order_by("pk").first()
    register_conversations(staging, [Arrival("conv_1")], now=NOW)
    assert (
        "no outcomes reported yet"
        in open_page(browser_client, start.replace("production", "staging"), "conv_1").lower()
    )
    record_outcomes(production, [Report("conv_1", "purchase")], reported_by=api_key.pk, now=NOW)
    altered = "https://lumen.example/chat/CONV_1"
    record_outcomes(staging, [Report(altered, "refund")], now=NOW + timedelta(minutes=1))
    record_outcomes(production, [Report("conv_2", "purchase"), Report("undefined", "purchase")], now=NOW)
    page = open_page(browser_client, start.replace("production", "staging"), "conv_1")
    assert "2 broken joins name this conversation" in page
    assert "No outcomes reported yet" not in page
    assert '<span class="tag">0 outcomes</span>' in page
    assert f'title="{api_key}">{api_key.name}</a>' in page
    assert f'href="{start}/joins?why=other-environment&in=staging&range=all"' in page
    assert "Move to staging…" in page
    naming = load_tables(browser_client, start.replace("production", "staging"), "conv_1")["naming"]
    assert [(row["environment"], row["conversationId"], row["diagnosis"], row["reportedBy"]) for row in naming] == [
        ("staging", altered, "altered", None),
        ("production", "conv_1", "other-environment", str(api_key)),
    ]


def test_a_broken_join_names_the_same_conversation_as_the_page_of_broken_joins(production, workspace):
    """An id could mean three conversations. Only the page of the one that the diagnosis names lists the join."""
    staging = workspace.workspace.environments.get(name="staging")
    for environment, conversation_id in ((production, "Conv-7"), (production, "conv-7"), (staging, "CONV-7")):
        register_conversations(environment, [Arrival(conversation_id)], now=NOW)
    record_outcomes(production, [Report('"conv-7"', "purchase")], now=NOW)
    matches = [join.diagnosis.match for join in diagnose_joins(production, find_broken_joins(production, ALL))]
    named = [
        KnownConversation(conversation_id, environment.name)
        for environment, conversation_id in ((production, "Conv-7"), (production, "conv-7"), (staging, "CONV-7"))
        if list_joins_naming(environment, conversation_id)
    ]
    assert named == matches
