"""POST /api/confirmations and its decision: each state is left once (contract 3)."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from affidavit import args_hash
from intents.gate import confirmations
from intents.gate.policy import Call
from intents.models import Confirmation
from wire.errors import DomainError
from workspaces.models import AuditEntry

ADDRESS = "/api/confirmations"
QUESTION = {"sub": "user_17", "operation": "POST /refunds", "args": {"amount": 1250}, "summary": "Refund 12.50"}


def request_confirmation(api, **members) -> dict:
    response = api.post(ADDRESS, {**QUESTION, **members})
    assert response.status_code == 201, response.content
    return response.json()


def decide(api, confirmation_id, decision="confirm", **options):
    return api.post(f"{ADDRESS}/{confirmation_id}/decision", {"decision": decision}, **options)


def test_a_new_one_is_pending_for_15_minutes(api):
    receipt = request_confirmation(api)
    assert set(receipt) == {"confirmationId", "state", "expiresAt"}
    assert (receipt["state"], uuid.UUID(receipt["confirmationId"]).version) == ("pending", 4)
    assert abs(receipt["expiresAt"] - timezone.now().timestamp() - 900) < 30


@pytest.mark.parametrize(("decision", "state"), [("confirm", "confirmed"), ("decline", "declined")])
def test_a_decision_changes_the_state(api, decision, state):
    confirmation_id = request_confirmation(api)["confirmationId"]
    response = decide(api, confirmation_id, decision)
    assert (response.status_code, response.json()) == (200, {"confirmationId": confirmation_id, "state": state})
    entry = AuditEntry.objects.get(action=f"confirmation {state}")
    assert entry.facts["confirmationId"] == confirmation_id


@pytest.mark.parametrize("first", ["confirm", "decline"])
@pytest.mark.parametrize("second", ["confirm", "decline"])
def test_a_second_decision_is_refused_and_changes_nothing(api, first, second):
    confirmation_id = request_confirmation(api)["confirmationId"]
    state = decide(api, confirmation_id, first).json()["state"]
    again = decide(api, confirmation_id, second)
    assert (again.status_code, again.json()["code"], again.json()["state"]) == (409, "not-pending", state)
    assert Confirmation.objects.get().state == state


def test_an_expired_confirmation_cannot_be_decided(production):
    now = timezone.now()
    confirmation = confirmations.request_confirmation(production, Call("u", "POST /a", args_hash({})), "A", now=now)
    expiry = now + timedelta(minutes=15)
    assert confirmation.state_at(expiry) == "expired"
    assert confirmation.state_at(expiry - timedelta(microseconds=1)) == "pending"
    with pytest.raises(DomainError) as raised:
        confirmations.decide_confirmation(production.workspace, confirmation.pk, "confirm", actor="test", now=expiry)
    assert (raised.value.code, raised.value.extra["state"]) == ("not-pending", "expired")


@pytest.mark.parametrize("unknown", ["5f0b7c1e-5c3b-4a57-9d0e-2f6f0c9a3b11", "nothing", "0"])
def test_an_unknown_one_is_not_found(api, unknown):
    response = decide(api, unknown)
    assert (response.status_code, response.json()["code"]) == (404, "not-found")


def test_an_outsider_decides_nothing(api, other_workspace):
    confirmation_id = request_confirmation(api)["confirmationId"]
    foreign = decide(api, confirmation_id, key=other_workspace.full_key)
    missing = decide(api, str(uuid.uuid4()), key=other_workspace.full_key)
    assert (foreign.status_code, foreign.json()["detail"]) == (missing.status_code, missing.json()["detail"])
    assert foreign.status_code == 404
    assert Confirmation.objects.get().state == "pending"


@pytest.mark.parametrize("decision", [None, "", "yes", "CONFIRM", 1, ["confirm"]])
def test_a_decision_is_one_of_two_words(api, decision):
    response = decide(api, request_confirmation(api)["confirmationId"], decision)
    assert response.status_code == 400
    assert response.json()["errors"][0]["pointer"] == "/decision"


@pytest.mark.parametrize("name", ["sub", "operation", "args", "summary"])
def test_every_member_is_needed(api, name):
    body = {member: value for member, value in QUESTION.items() if member != name}
    response = api.post(ADDRESS, body)
    assert [fault["pointer"] for fault in response.json()["errors"]] == [f"/{name}"]
    assert Confirmation.objects.count() == 0


def test_arguments_are_kept_as_their_hash_only(api):
    request_confirmation(api, args={"card": "4111111111111111"})
    row = Confirmation.objects.values().get()
    assert row["args_hash"] == args_hash({"card": "4111111111111111"})
    assert "4111111111111111" not in str(row)


def test_a_key_without_the_scope_neither_asks_nor_decides(api, workspace):
    confirmation_id = request_confirmation(api)["confirmationId"]
    workspace.workspace.api_keys.update(scopes=["report"])
    assert decide(api, confirmation_id).status_code == 403
    assert api.post(ADDRESS, QUESTION).status_code == 403
    assert Confirmation.objects.get().state == "pending"


@pytest.mark.django_db(transaction=True)
def test_of_eight_decisions_at_once_one_counts(workspace):
    environment = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    confirmation = confirmations.request_confirmation(environment, Call("u", "POST /a", args_hash({})), "A", now=now)
    results: list[str] = []

    def decide_it(decision: str) -> None:
        try:
            decided = confirmations.decide_confirmation(
                workspace.workspace, confirmation.pk, decision, actor=decision, now=now
            )
            results.append(decided.state)
        except DomainError as error:
            results.append(error.code)
        connection.close()

    threads = [threading.Thread(target=decide_it, args=(word,)) for word in ("confirm", "decline") * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count("not-pending") == 7
    assert Confirmation.objects.get().state in results


@pytest.mark.django_db(transaction=True)
def test_of_eight_uses_at_once_for_different_tool_calls_one_passes(workspace):
    environment = workspace.workspace.environments.get(name="production")
    call, now = Call("u", "POST /a", args_hash({})), timezone.now()
    confirmation = confirmations.request_confirmation(environment, call, "A", now=now)
    confirmations.decide_confirmation(workspace.workspace, confirmation.pk, "confirm", actor="test", now=now)
    passed: list[int] = []

    def use(number: int) -> None:
        try:
            confirmations.use_confirmation(environment, confirmation.pk, call, f"call_{number}", now=now)
            passed.append(number)
        except DomainError as error:
            assert error.code == "confirmation-required"
        connection.close()

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 1
    assert Confirmation.objects.get().tool_call_id == f"call_{passed[0]}"
