"""POST /api/confirmations and its decision: a confirmation is decided once and serves one call (contract §3)."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from affidavit import args_hash
from intents.gate import confirmations
from intents.gate.needs_confirmation import Call
from intents.models import Confirmation
from tests.intents.gate.confirmation_requests import ADDRESS, QUESTION, decide, request_confirmation
from wire.errors import DomainError
from workspaces.models import AuditEntry


def test_a_new_confirmation_is_pending_for_15_minutes(api):
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
def test_an_unknown_confirmation_is_not_found(api, unknown):
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
def test_every_member_is_required(api, name):
    body = {member: value for member, value in QUESTION.items() if member != name}
    response = api.post(ADDRESS, body)
    assert [fault["pointer"] for fault in response.json()["errors"]] == [f"/{name}"]
    assert Confirmation.objects.count() == 0


def test_asking_and_deciding_have_separate_scopes(api, workspace):
    confirmation_id = request_confirmation(api)["confirmationId"]
    keys = workspace.workspace.api_keys

    def list_statuses(*scopes: str) -> tuple[int, int]:
        keys.update(scopes=list(scopes))
        return api.post(ADDRESS, QUESTION).status_code, decide(api, confirmation_id).status_code

    assert list_statuses("report") == (403, 403)
    assert list_statuses("report", "platform") == (201, 403)
    assert decide(api, confirmation_id).json()["code"] == "scope-missing"
    assert Confirmation.objects.get(pk=confirmation_id).state == "pending"
    assert list_statuses("confirm") == (403, 200)


@pytest.mark.django_db(transaction=True)
def test_of_eight_simultaneous_decisions_one_counts(workspace):
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
def test_of_eight_simultaneous_uses_for_different_tool_calls_one_passes(workspace):
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


def test_a_decision_that_can_still_be_undone_allows_nothing(production):
    now = timezone.now()
    call = Call("user_17", "POST /refunds", args_hash({"amount": 1250}))
    confirmation = confirmations.request_confirmation(production, call, "Refund", now=now)
    confirmations.decide_confirmation(
        production.workspace, confirmation.pk, "confirm", actor="ann", now=now, undo_time=confirmations.UNDO_TIME
    )
    early = now + confirmations.UNDO_TIME - timedelta(milliseconds=1)
    with pytest.raises(confirmations.ConfirmationRequired, match="is pending"):
        confirmations.use_confirmation(production, confirmation.pk, call, "call-1", now=early)
    confirmations.use_confirmation(production, confirmation.pk, call, "call-1", now=now + confirmations.UNDO_TIME)
    assert Confirmation.objects.get().state == "used"
    with pytest.raises(confirmations.NotPending, match="used"):
        confirmations.undo_decision(production.workspace, confirmation.pk, actor="ann", now=early)


@pytest.mark.parametrize("spelling", ["{}" + "-" * 200, "{{" * 100 + "{}", "urn:uuid:{}"])
def test_an_id_in_another_spelling_is_not_found(api, spelling):
    confirmation_id = request_confirmation(api)["confirmationId"]
    response = decide(api, spelling.format(confirmation_id), headers={"Idempotency-Key": "k1"})
    assert (response.status_code, response.json()["code"]) == (404, "not-found")
    assert Confirmation.objects.get().state == "pending"
