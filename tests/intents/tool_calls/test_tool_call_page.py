"""One tool call's page: its confirmation, its intents and its rejections."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.utils import timezone

from affidavit import args_hash
from intents.gate.confirmations import decide_confirmation, request_confirmation
from intents.gate.mint import mint_for_call
from intents.gate.needs_confirmation import Call
from intents.models import Confirmation, MintedIntent, Rejection
from intents.rejections.detail.call_events import MAX_EVENTS
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from intents.tool_calls.call_queries import find_tool_call
from tests.page_text import read_html, read_unescaped_html
from workspaces.models import Environment, Membership

pytestmark = pytest.mark.django_db


@pytest.fixture
def start(workspace: Any, production: Environment, refund_time: datetime) -> str:
    """Return the start of the addresses of production, where the refund was minted, and rejected three times."""
    for seconds in (20, 40):
        moment = refund_time + timedelta(seconds=seconds)
        record_verifications(production, [Verification("expired", moment, 2, "POST /refunds", "call_81")])
    long_ago = refund_time - timedelta(days=40)
    record_verifications(production, [Verification("expired", long_ago, 2, "GET /a", "call_81")])
    return f"/w/{workspace.workspace.slug}/production"


def open_page(client: Any, start: str, tool_call_id: str, *, status: int = 200) -> str:
    response = client.get(f"{start}/toolcall", {"id": tool_call_id})
    assert response.status_code == status, response.content
    return read_unescaped_html(response)


def test_the_page_lists_all_events_with_links(browser_client, start):
    page = open_page(browser_client, start, "call_81")
    assert "3 rejections</span>" in page
    assert "minted" not in page.partition("<h1")[2].partition('class="card"')[0]
    assert page.count("· version 2 </span>") == 3
    user = f'<a href="{start}/toolcalls?user=user_17&range=all"><code>user_17</code></a>'
    assert re.search(rf"version 2 · user {re.escape(user)} · valid until [0-9:]{{8}} · no step-up </span>", page)
    assert "Refund <12.50>" in page
    assert "<code>user_17</code>" in page
    # Only rejections link to an operation, because the operation of an intent may not be in the catalog.
    assert page.count(f'href="{start}/operation?method=POST&path=%2Frefunds"') == 2
    link = next(part for part in page.split('"') if "/rejection?at=" in part)
    assert browser_client.get(link).status_code == 200
    tables = json.loads(browser_client.get(f"{start}/toolcall.json", {"id": "call_81"}).getvalue())["tables"]
    assert [event["event"] for event in tables["events"]] == [
        "rejected", "confirmation requested", "confirmed", "confirmation used", "intent minted", "rejected", "rejected",
    ]  # fmt: skip
    assert [row["sub"] for row in tables["intents"]] == ["user_17"]
    assert len(tables["rejections"]) == 3
    assert [row["state"] for row in tables["confirmations"]] == ["used"]


def test_the_page_tells_each_fact_once(browser_client, start, production):
    page = open_page(browser_client, start, "call_81").partition("<main")[2]
    assert page.count("<section") == 1
    assert page.count("Refund <12.50>") == page.count("<code>user_17</code>") == 1
    mint_for_call(production, Call("user_17", "GET /a", args_hash({})), tool_call_id="call_9", now=timezone.now())
    assert "no rejection</span>" in open_page(browser_client, start, "call_9")


def test_a_second_intent_for_the_same_call_is_said_to_be_a_retry(browser_client, start, production, refund):
    confirmation = Confirmation.objects.get(tool_call_id="call_81")
    again = confirmation.used_at + timedelta(seconds=30)
    mint_for_call(production, refund, confirmation_id=confirmation.pk, tool_call_id="call_81", now=again)
    page = open_page(browser_client, start, "call_81")
    assert page.count("intent minted again, a retry of the same call with the same confirmation") == 1
    assert page.count("intent minted") == 2
    tables = json.loads(browser_client.get(f"{start}/toolcall.json", {"id": "call_81"}).getvalue())["tables"]
    assert [event["event"] for event in tables["events"]].count("intent minted again") == 1
    for operation in ("GET /a", "GET /b", "GET /b"):
        mint_for_call(production, Call("user_17", operation, args_hash({})), tool_call_id="call_9", now=again)
    page = open_page(browser_client, start, "call_9")
    assert page.count("intent minted again, a retry of the same call <span") == 1


def test_the_download_of_a_call_with_very_many_events_has_all_of_them(browser_client, start, production, refund):
    """Here each intent has a confirmation of its own, so that there are as many confirmations as intents."""
    now, count = timezone.now(), MAX_EVENTS + 2
    for number in range(count):
        at = now + timedelta(seconds=number)
        confirmation = request_confirmation(production, refund, f"Refund {number}", now=at)
        decide_confirmation(production.workspace, confirmation.pk, "confirm", actor="ann", now=at)
        mint_for_call(production, refund, confirmation_id=confirmation.pk, tool_call_id="call_9", now=at)
        record_verifications(production, [Verification("expired", at, 2, "POST /refunds", "call_9")])
    page = open_page(browser_client, start, "call_9")
    assert f"The first {MAX_EVENTS} intents and rejections are listed; the export has all." in page
    assert page.count(": <a href") == page.count("valid until") == MAX_EVENTS
    tables = json.loads(browser_client.get(f"{start}/toolcall.json", {"id": "call_9"}).getvalue())["tables"]
    assert {name: len(rows) for name, rows in tables.items()} == {
        "events": 5 * count, "intents": count, "confirmations": count, "rejections": count,
    }  # fmt: skip
    assert [event["event"] for event in tables["events"][:5]] == [
        "confirmation requested", "confirmed", "confirmation used", "intent minted", "rejected",
    ]  # fmt: skip
    assert [row["summary"] for row in tables["confirmations"]] == [f"Refund {number}" for number in range(count)]
    last = Rejection.objects.latest("occurred_at")
    query = {"at": last.occurred_at.isoformat(), "id": last.pk}
    page = read_html(browser_client.get(f"{start}/rejection", query))
    assert f"The first {MAX_EVENTS} intents and rejections are listed; the export has all." in page
    tables = json.loads(browser_client.get(f"{start}/rejection.json", query).getvalue())["tables"]
    assert len(tables["events"]) == 5 * count


def test_a_call_without_a_rejection_is_in_the_section_confirmations(browser_client, start, production):
    mint_for_call(production, Call("user_17", "GET /a", args_hash({})), tool_call_id="call_9", now=timezone.now())
    for tool_call_id, section in (("call_81", "rejections"), ("call_9", "confirmations")):
        page = open_page(browser_client, start, tool_call_id)
        assert f'<a class="btn" href="{start}/{section}">All {section}</a>' in page
        (current,) = re.findall(r'href="([^"]+)" data-go="\w" aria-current="true"', page)
        assert current == f"{start}/{section}"


def test_rows_with_a_tool_call_link_to_its_page(browser_client, start):
    link = 'toolcall?id=call_81"'
    assert link in browser_client.get(f"{start}/rejections").content.decode()
    assert link in browser_client.get(f"{start}/confirmations").content.decode()
    rejection = Rejection.objects.latest("occurred_at")
    query = {"at": rejection.occurred_at.isoformat(), "id": rejection.pk}
    assert link in browser_client.get(f"{start}/rejection", query).content.decode()


@pytest.mark.parametrize("tool_call_id", ["call_82", "", "\0", "%", "x" * 9000])
def test_the_page_of_an_unknown_tool_call_says_so_within_the_workspace(browser_client, start, tool_call_id):
    page = open_page(browser_client, start, tool_call_id, status=404)
    assert "names this tool call" in page or "Name the tool call" in page
    assert "Broken joins" in page


def test_another_environment_says_where_it_is_known_and_an_outsider_learns_nothing(
    browser_client, start, other_workspace
):
    page = open_page(browser_client, start.replace("production", "staging"), "call_81", status=404)
    assert "It is known in production." in page
    stranger = get_user_model().objects.create_user("stranger")
    Membership.objects.create(workspace=other_workspace.workspace, user=stranger, role="admin")
    client = Client()
    client.force_login(stranger)
    assert client.get(f"{start}/toolcall?id=call_81").status_code == 404
    own = client.get(f"/w/{other_workspace.workspace.slug}/production/toolcall?id=call_81")
    assert own.status_code == 404
    assert "known in" not in own.content.decode()


def test_a_call_that_was_minted_elsewhere_links_to_that_environment(browser_client, start, production):
    staging = production.workspace.environments.get(name="staging")
    record_verifications(staging, [Verification("audience-mismatch", timezone.now(), 2, "POST /refunds", "call_81")])
    page = open_page(browser_client, start.replace("production", "staging"), "call_81")
    assert "this hub minted no intent for it in staging: another platform may have signed it" in page
    assert f'<a href="{start}/toolcall?id=call_81">production</a>' in page
    assert "Why it was rejected</a>" in page


def test_a_tool_call_is_found_by_indexes_that_begin_with_the_environment(start, production):
    names = [f"call_{number}" for number in range(100, 3_100)]
    intent = MintedIntent.objects.get()
    facts = {name: getattr(intent, name) for name in ("environment", "sub", "operation", "issued_at", "expires_at")}
    MintedIntent.objects.bulk_create(MintedIntent(tool_call_id=name, **facts) for name in names)
    record_verifications(production, [Verification("expired", intent.issued_at, 2, "GET /a", name) for name in names])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE intents_mintedintent, intents_rejection")
    call = find_tool_call(production, "call_81")
    for rows in (call.intents, call.rejections):
        plan = rows.order_by().explain()
        assert f"Index Cond: ((environment_id = {production.pk}) AND ((tool_call_id)::text = 'call_81'::text))" in plan


def test_every_partition_has_the_index_of_tool_calls():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), bool_and(indisvalid) FROM pg_partition_tree('rejections_of_a_tool_call')"
            " JOIN pg_index ON indexrelid = relid"
        )
        count, are_valid = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM pg_partition_tree('intents_rejection')")
        assert (count, are_valid) == (cursor.fetchone()[0], True)
