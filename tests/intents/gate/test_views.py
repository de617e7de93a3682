"""The page of the gate: pending confirmations can be confirmed or declined, by members only."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from affidavit import args_hash
from intents.gate import confirmations
from intents.gate.policy import Call
from intents.models import Confirmation

CALL = Call("user_17", "POST /refunds", args_hash({"amount": 1250}))


@pytest.fixture
def address(workspace) -> str:
    return f"/w/{workspace.workspace.slug}/production/confirmations"


@pytest.fixture
def pending(production) -> Confirmation:
    return confirmations.request_confirmation(production, CALL, "Refund 12.50 for <order> 8412", now=timezone.now())


@pytest.fixture
def decide(browser_client, address):
    def post(confirmation: Confirmation, decision: str, client: Client = browser_client):
        return client.post(f"{address}/{confirmation.pk}/decision", {"decision": decision})

    return post


def test_an_empty_page_shows_the_call_that_fills_it(browser_client, address, api):
    response = browser_client.get(address)
    assert "/api/confirmations" in response.content.decode()
    assert api.post("/api/confirmations", response.context["first_confirmation"].encode()).status_code == 201
    assert "Refund 12.50 for order 8412" in browser_client.get(address).content.decode()


def test_a_pending_confirmation_is_shown_with_its_summary_escaped(browser_client, address, pending):
    text = browser_client.get(address).content.decode()
    assert "Refund 12.50 for &lt;order&gt; 8412" in text
    assert 'value="confirm"' in text


@pytest.mark.parametrize(("decision", "state"), [("confirm", "confirmed"), ("decline", "declined")])
def test_a_member_decides_on_the_page(decide, browser_client, address, pending, decision, state):
    response = decide(pending, decision)
    assert (response.status_code, response["Location"]) == (303, address)
    pending.refresh_from_db()
    assert (pending.state, pending.decided_by) == (state, "test-operator")
    page = browser_client.get(address)
    assert list(page.context["pending"]) == []
    assert [shown_state for _, shown_state in page.context["rows"]] == [state]


def test_a_second_decision_changes_nothing_and_the_page_says_so(decide, browser_client, pending):
    decide(pending, "decline")
    response = decide(pending, "confirm")
    text = browser_client.get(response["Location"]).content.decode()
    assert "this confirmation is already declined" in text
    pending.refresh_from_db()
    assert pending.state == "declined"


def test_what_is_signed_stands_beside_the_summary_until_it_is_decided(decide, browser_client, address, pending):
    text = browser_client.get(address).content.decode()
    for signed in (CALL.sub, CALL.operation, CALL.args_hash):
        assert f"<code>{signed}</code>" in text
    decide(pending, "confirm")
    assert CALL.args_hash not in browser_client.get(address).content.decode()
    row = json.loads(browser_client.get(f"{address}.json").getvalue())["tables"]["confirmations"][0]
    assert (row["state"], row["argsHash"]) == ("confirmed", None)


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("editor", 303), ("admin", 303)])
def test_deciding_needs_the_role_of_an_editor(decide, pending, workspace, role, status):
    member = get_user_model().objects.create_user("member")
    member.memberships.create(workspace=workspace.workspace, role=role)
    client = Client()
    client.force_login(member)
    assert decide(pending, "confirm", client).status_code == status


def test_an_unknown_decision_is_refused(decide, pending):
    assert decide(pending, "maybe").status_code == 400
    pending.refresh_from_db()
    assert pending.state == "pending"


def test_an_expired_confirmation_is_no_longer_pending(browser_client, address, production):
    confirmations.request_confirmation(production, CALL, "Old", now=timezone.now() - timedelta(minutes=16))
    page = browser_client.get(address)
    assert list(page.context["pending"]) == []
    assert [state for _, state in page.context["rows"]] == ["expired"]


def test_exports_have_every_row_and_null_for_what_has_not_happened(browser_client, address, production, pending):
    for number in range(30):
        confirmations.request_confirmation(production, CALL, f"Question {number}", now=timezone.now())
    tables = json.loads(browser_client.get(f"{address}.json").getvalue())["tables"]
    assert len(tables["waiting"]) == len(tables["confirmations"]) == 31
    row = next(row for row in tables["confirmations"] if row["confirmationId"] == str(pending.pk))
    assert (row["state"], row["argsHash"]) == ("pending", CALL.args_hash)
    assert row["decidedAt"] is row["decidedBy"] is row["usedAt"] is row["toolCallId"] is None
    assert "1 to 25 of 31" in browser_client.get(address).content.decode()


def test_a_long_queue_says_how_long_it_is(browser_client, address, production):
    for number in range(52):
        confirmations.request_confirmation(production, CALL, f"Question {number}", now=timezone.now())
    page = browser_client.get(address)
    assert len(page.context["pending"]) == 50
    assert "The first 50 of 52" in page.content.decode()


def test_another_environment_neither_shows_nor_loses_it(browser_client, address, pending):
    page = browser_client.get(address.replace("production", "staging"))
    assert "No confirmations yet" in page.content.decode()


def test_an_outsider_sees_and_decides_nothing(decide, address, pending, other_workspace):
    stranger = get_user_model().objects.create_user("stranger")
    stranger.memberships.create(workspace=other_workspace.workspace, role="editor")
    client = Client()
    client.force_login(stranger)
    assert client.get(address).status_code == 404
    assert decide(pending, "confirm", client).status_code == 404
    pending.refresh_from_db()
    assert pending.state == "pending"


def test_a_key_reads_the_page_but_decides_nothing_on_it(decide, address, pending, api, workspace):
    assert api.get(f"{address}.json").status_code == 200
    keyed = Client(headers={"x-service-api-key": workspace.full_key})
    assert decide(pending, "confirm", keyed).status_code == 302
    pending.refresh_from_db()
    assert pending.state == "pending"


def test_a_decision_is_protected_against_forgery_and_by_post_only(address, pending, browser_client):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(get_user_model().objects.get(username="test-operator"))
    decision_address = f"{address}/{pending.pk}/decision"
    assert strict.post(decision_address, {"decision": "confirm"}).status_code == 403
    assert browser_client.get(decision_address).status_code == 405
    pending.refresh_from_db()
    assert pending.state == "pending"
