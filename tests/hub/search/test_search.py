"""The search over everything: what it finds by part of a name, by prefix or exactly, and what it never shows."""

from __future__ import annotations

import json
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from affidavit import args_hash
from hub.glossary.terms import read_terms
from hub.search import ids, operations_properties_outcome_keys
from hub.search.results import mark_matches, mark_prefix
from intents.gate.mint import mint_for_call
from intents.gate.needs_confirmation import Call
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.broken_joins.moves.move import move_broken_joins
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.catalog.reports import deliver, environment_of, observation, report
from tests.page_text import read_unescaped_html
from tests.reload_workspace import reload_workspace
from wire.time.period import parse_period
from workspaces.create import NewWorkspace
from workspaces.models import Membership, SigningSecret

pytestmark = pytest.mark.django_db
NOW = timezone.now() - timedelta(hours=1)


def fill(created: NewWorkspace) -> None:
    production = environment_of(created)
    register_conversations(production, [Arrival("conv_1"), Arrival("conv_12"), Arrival("other")], now=NOW)
    record_outcomes(production, [Report("conv_1", "email_captured"), Report("conv_9", "purchase")], now=NOW)
    record_verifications(production, [Verification("expired", NOW, 2, "POST /orders", "call_81")])
    SigningSecret.objects.update(signs_from=NOW - timedelta(days=60))
    for days in (0, 40):
        mint_for_call(production, Call("user_17", "GET /orders", args_hash({})), now=NOW - timedelta(days=days))


@pytest.fixture(scope="module")
def filled_workspace(module_workspace: NewWorkspace, connect: Any) -> NewWorkspace:
    api, customer = connect(module_workspace), {"customer": {"Email": "x", "share%": 1}}
    deliver(api, module_workspace, observation("GET", "/orders/{orderId}", response=customer))
    deliver(api, module_workspace, observation("POST", "/account/email", 201, request={"name": "x"}))
    fill(module_workspace)
    return module_workspace


@pytest.fixture
def workspace(filled_workspace: NewWorkspace) -> NewWorkspace:
    return reload_workspace(filled_workspace)


def search(client: Any, start: str, text: str) -> list[tuple[str, str]]:
    rows = json.loads(client.get(f"{start}/search.json", {"q": text}).getvalue())["tables"]["results"]
    for row in rows:
        assert client.get(row["address"]).status_code == 200, row
    return [(row["kind"], row["title"]) for row in rows]


def open_page(client: Any, start: str, text: str, **headers: str) -> str:
    response = client.get(f"{start}/search", {"q": text}, headers=headers)
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    return read_unescaped_html(response)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "EMAIL",
            [("Operations", "/account/email"), ("Properties", "/customer/Email"), ("Outcome keys", "email_captured")],
        ),
        ("conv_1", [("Conversations", "conv_1"), ("Conversations", "conv_12")]),
        ("conv_9", [("Conversations", "conv_9")]),
        ("onv_1", []),
        ("CONV_1", []),
        ("call_81", [("Tool calls", "call_81")]),
        ("call_8", []),
        ("user_17", [("Users", "user_17")]),
        ("user_1", []),
        ("USER_17", []),
        ("customer/em", [("Properties", "/customer/Email")]),
        ("get /ord", [("Operations", "/orders/{orderId}")]),
        ("re%", [("Properties", "/customer/share%")]),
        ("%", [("Properties", "/customer/share%")]),
        ("1_0", []),
        ("purch", [("Outcome keys", "purchase")]),
        ("retent", [("Pages and settings", "Settings: Retention")]),
        ("slack", [("Pages and settings", "Settings: Alerts")]),
        ("dead let", [("Glossary", "Dead letter"), ("Pages and settings", "Settings: Deliveries")]),
        ("campaign", [("Pages and settings", "Annotations")]),
        ("without an acc", [("Pages and settings", "Settings: Shared links")]),
        (
            "scopes",
            [("API keys", "all scopes"), ("Glossary", "Scope"), ("Pages and settings", "Settings: Keys")],
        ),
        ("  purch\0 ", [("Outcome keys", "purchase")]),
        ("", []),
        ("\\", []),
        ("'; --", []),
    ],
)
def test_names_are_found_by_any_part_and_ids_by_prefix_or_exactly(browser_client, start, text, expected):
    assert search(browser_client, start, text) == expected


def test_a_report_is_found_by_its_id(browser_client, start, api, workspace):
    body = report(observation("GET", "/health", 204))
    assert api.post("/api/witness-reports", body).status_code == 202
    assert search(browser_client, start, body["reportId"].upper()) == [("Reports", body["reportId"])]
    assert search(browser_client, start, str(uuid.uuid4())) == []


def test_results_are_grouped_by_kind_marked_and_linked(browser_client, start):
    page = open_page(browser_client, start, "email")
    assert "<code>/customer/<mark>Email</mark></code>" in page
    assert '<section aria-label="Properties">' in page
    assert 'value="email"' in page
    partial = open_page(browser_client, start, "email", **{"HX-Request": "true"})
    assert partial.startswith('<p class="visually-hidden" data-said>3 results</p>')
    assert "<html" not in partial


def test_characters_of_a_key_that_cannot_be_seen_are_codes(browser_client, start, api):
    outcomes = [{"conversationId": "c", "outcomeKey": "\u202eyub"}]
    assert api.post("/api/conversation-outcomes", {"outcomes": outcomes}).status_code == 200
    page = open_page(browser_client, start, "yub")
    assert r"<code>\u202e<mark>yub</mark></code>" in page


def test_a_property_with_several_types_has_their_names(browser_client, start, api, workspace):
    deliver(api, workspace, *(observation(response={"placedAt": value}) for value in (1, "x")))
    assert "integer or string</span>" in open_page(browser_client, start, "placedAt")


def test_a_property_that_can_be_null_says_so(browser_client, start, api, workspace):
    deliver(api, workspace, *(observation(response={"coupon": value}) for value in (None, "x")))
    assert '<span class="string">string or null</span>' in open_page(browser_client, start, "coupon")


def test_a_user_leads_to_all_their_tool_calls_whatever_the_period(browser_client, start):
    page = open_page(browser_client, start, "user_17")
    (link,) = re.findall(r'href="([^"]*)" data-result> <code><mark>user_17</mark></code>', page)
    assert link == f"{start}/toolcalls?user=user_17&range=all"
    rows = json.loads(browser_client.get(link.replace("toolcalls", "toolcalls.json")).getvalue())["tables"]["toolCalls"]
    assert [row["sub"] for row in rows] == ["user_17", "user_17"]


def test_results_lead_to_the_period_of_the_search(browser_client, start):
    page = browser_client.get(f"{start}/search", {"q": "email", "range": "24h"}).content.decode()
    links = re.findall(r'href="([^"]*)" data-result', page)
    assert links
    assert [link for link in links if "range=24h" not in link] == []


def test_an_empty_search_says_what_can_be_found(browser_client, start, other_workspace):
    page = open_page(browser_client, start, "")
    assert "conversation ids by their beginning" in page
    assert f'href="{start}/operation?method=GET&path=%2Forders%2F%7BorderId%7D"' in page
    assert f'href="{start}/outcome?key=purchase"' in page
    empty = open_page(browser_client, f"/w/{other_workspace.workspace.slug}/production", "")
    assert "data-result" not in empty
    assert "Nothing matches" not in empty


def test_huge_and_odd_input_gets_a_clear_answer(browser_client, start):
    assert "at most 255 characters" in open_page(browser_client, start, "x" * 20_000)
    assert "Nothing matches in production" in open_page(browser_client, start, "x" * 255)
    assert "Finds operations" in open_page(browser_client, start, "")
    assert "<script>" not in browser_client.get(f"{start}/search", {"q": "<script>"}).content.decode()
    assert "Request ids are in the hub's log" in open_page(browser_client, start, "req_0123456789abcdef0123")


@pytest.mark.parametrize("ending", [".json", ".csv"])
def test_an_export_refuses_a_text_that_is_too_long(browser_client, start, ending):
    """An empty table would say that nothing matches, although nothing was looked for."""
    response = browser_client.get(f"{start}/search{ending}", {"q": "x" * 256})
    assert (response.status_code, response.json()["code"]) == (400, "invalid-request")
    assert browser_client.get(f"{start}/search{ending}", {"q": f" {'x' * 255} "}).status_code == 200


def test_nothing_of_another_workspace_or_environment_appears(start, other_workspace, workspace, api):
    fill(other_workspace)
    stranger = get_user_model().objects.create_user("stranger")
    Membership.objects.create(workspace=other_workspace.workspace, user=stranger, role="viewer")
    client = Client()
    client.force_login(stranger)
    assert client.get(f"{start}/search", {"q": "email"}).status_code == 404
    assert Client().get(f"{start}/search", {"q": "email"}).status_code == 302
    own = f"/w/{other_workspace.workspace.slug}/production"
    assert search(client, own, "email") == [("Outcome keys", "email_captured")]
    body = report(observation("GET", "/health", 204))
    assert api.post("/api/witness-reports", body).status_code == 202
    assert search(client, own, body["reportId"]) == []
    staging = own.replace("production", "staging")
    assert [search(client, staging, text) for text in ("email", "conv_", "call_81")] == [[], [], []]
    register_conversations(environment_of(workspace, "staging"), [Arrival("conv_s")], now=NOW)
    assert search(client, own, "conv_s") == []


def test_settings_are_found_by_those_who_may_open_them(start, workspace):
    for role, expected in (("viewer", []), ("admin", [("Pages and settings", "Settings: Retention")])):
        user = get_user_model().objects.create_user(role)
        Membership.objects.create(workspace=workspace.workspace, user=user, role=role)
        client = Client()
        client.force_login(user)
        assert search(client, start, "retent") == expected


def test_each_kind_shows_a_few_results_and_a_link_to_all(browser_client, start, workspace, monkeypatch):
    for module in (ids, operations_properties_outcome_keys):
        monkeypatch.setattr(module, "MAX_RESULTS", 2)
    production = environment_of(workspace)
    record_outcomes(production, [Report("conv_1", f"key_{n}") for n in range(3)], now=NOW)
    register_conversations(production, [Arrival(f"many_{n}") for n in range(3)], now=NOW)
    assert len(search(browser_client, start, "key_")) == 2
    page = open_page(browser_client, start, "key_")
    assert f'href="{start}/outcomes?q=key_"' in page
    assert "First 2: see more on the page Outcomes" in page
    assert "More match: type more of it." in open_page(browser_client, start, "many")


def test_a_conversation_of_another_environment_is_found_with_links_to_both(browser_client, start, workspace):
    """The most frequent kind of broken join is an id that was reported in production but registered in staging."""
    register_conversations(environment_of(workspace, "staging"), [Arrival("conv_9"), Arrival("conv_1")], now=NOW)
    assert search(browser_client, start, "conv_9") == [("Conversations", "conv_9")] * 2
    page = open_page(browser_client, start, "conv_9")
    assert '<span class="tag">not known in production</span>' in page
    assert '<span class="tag">known in staging</span>' in page
    staging = start.replace("production", "staging")
    for address in (start, staging):
        assert f'href="{address}/conversation?id=conv_9" data-result' in page
    assert "known in staging" not in open_page(browser_client, start, "conv_1")  # conv_1 is known in production


def test_a_conversation_whose_joins_were_moved_leads_to_where_it_is_known(browser_client, start, workspace):
    """Production had a report of the conversation before the move, and has nothing of it afterwards."""
    production, staging = environment_of(workspace), environment_of(workspace, "staging")
    register_conversations(staging, [Arrival("conv_9")], now=NOW)
    assert move_broken_joins(production, staging, parse_period({}, now=timezone.now()), actor="ann", now=NOW)
    for text in ("conv_9", "conv_"):
        page = open_page(browser_client, start, text)
        assert "not known in production" not in page, text
        assert '<span class="tag">known in staging</span>' in page, text
        assert f'href="{start}/conversation?id=conv_9"' not in page, text
        assert f'href="{start.replace("production", "staging")}/conversation?id=conv_9" data-result' in page, text


def test_a_search_without_results_says_what_can_be_found(browser_client, start):
    page = open_page(browser_client, start, "matches-nothing").partition("Nothing matches in production.")[2]
    assert "conversation ids by their beginning" in page.partition("</section>")[0]


def test_a_search_costs_few_statements_and_each_begins_with_the_environment(browser_client, start):
    with CaptureQueriesContext(connection) as context:
        open_page(browser_client, start, "conv_1")
    reads = [query["sql"] for query in context if "catalog_" in query["sql"] or "outcomes_" in query["sql"]]
    assert len(context) <= 20
    for statement in reads:
        assert "environment_id" in statement
    (prefix,) = [statement for statement in reads if 'FROM "outcomes_conversation"' in statement]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {prefix}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "(environment_id = " in plan
    assert ">= 'conv_1'" in plan
    assert "Seq Scan" not in plan


def test_the_match_is_marked_whatever_its_case():
    assert mark_matches("a.Email.email", "EMAIL") == [("a.", False), ("Email", True), (".", False), ("email", True)]
    assert mark_matches("a(b", "(") == [("a", False), ("(", True), ("b", False)]
    assert mark_matches("abc", "") == [("abc", False)]
    assert mark_prefix("conv_1", "conv") == [("conv", True), ("_1", False)]
    assert mark_prefix("conv", "conv") == [("conv", True)]


@pytest.mark.parametrize(
    ("text", "term"), [("descriptor", "Descriptor"), ("witness descriptor", "Descriptor"), ("Broken", "Broken join")]
)
def test_words_of_the_glossary_link_to_their_entry(browser_client, start, text, term):
    assert ("Glossary", term) in search(browser_client, start, text)
    page = open_page(browser_client, start, text)
    identifier = next(word.id for word in read_terms().values() if word.title == term)
    assert f'/glossary#{identifier}"' in page
    assert f'id="{identifier}"' in browser_client.get(f"{start}/glossary").content.decode()


def test_a_property_that_is_no_longer_seen_says_so(api, browser_client, workspace):
    deliver(api, workspace, *[observation("GET", "/books", response={"pages": 1, "title": "x"})] * 60)
    deliver(api, workspace, *[observation("GET", "/books", response={"title": "x"})] * 60)
    start = f"/w/{workspace.workspace.slug}/production"
    assert '<span class="tag">no longer seen</span>' in open_page(browser_client, start, "pages")
    assert "no longer seen" not in open_page(browser_client, start, "title").partition("<main")[2]
