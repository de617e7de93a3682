"""POST /api/intents mints an intent for exactly one call, and for a write only after a confirmation (contract §3)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from affidavit import IntentVerifier, MemoryNonces, args_hash, request_args
from intents.gate import confirmations
from intents.gate.mint import mint_for_call
from intents.gate.needs_confirmation import Call, needs_confirmation
from intents.models import Confirmation, MintedIntent
from wire.errors import DomainError
from wire.models import IdempotentAnswer
from workspaces.secrets.create import create_signing_secret

ADDRESS = "/api/intents"
READ = {"sub": "user_17", "operation": "GET /orders", "args": {"page": "2"}}
WRITE = {"sub": "user_17", "operation": "POST /refunds", "args": {"orderId": 8412, "amount": 1250}}


def build_verifier(workspace, audience=None) -> IntentVerifier:
    """Return the verifier of a customer's backend, with the signing secret that was shown once."""
    audience = audience or workspace.workspace.environments.get(name="production").audience
    return IntentVerifier(
        secrets=workspace.signing_secret, workspace=workspace.workspace.id, audience=audience, nonces=MemoryNonces()
    )


def confirm(api, **call) -> str:
    body = {**WRITE, "summary": "Refund", **call}
    confirmation_id = api.post("/api/confirmations", body).json()["confirmationId"]
    response = api.post(f"/api/confirmations/{confirmation_id}/decision", {"decision": "confirm"})
    assert response.status_code == 200, response.content
    return confirmation_id


def list_faults(response) -> dict[str, str]:
    assert response.status_code == 400, response.content
    return {fault["pointer"]: fault["code"] for fault in response.json()["errors"]}


def test_a_read_is_minted_and_passes_the_customers_verifier(api, workspace):
    response = api.post(ADDRESS, READ)
    assert response.status_code == 201
    assert set(response.json()) == {"header", "payload"}
    intent = build_verifier(workspace).verify(response.json()["header"], "GET", "/orders", "page=2")
    assert intent.payload == response.json()["payload"]
    assert (intent.sub, intent.operation, intent.args_hash) == ("user_17", "GET /orders", args_hash({"page": "2"}))


def test_times_are_in_seconds_and_five_minutes_apart(api):
    payload = api.post(ADDRESS, READ).json()["payload"]
    assert payload["v"] == 2
    assert payload["expiresAt"] - payload["issuedAt"] == 300
    assert abs(payload["issuedAt"] - timezone.now().timestamp()) < 30


def test_the_audience_is_that_of_the_environment(api, workspace):
    payload = api.post(ADDRESS, {**READ, "environment": "staging"}).json()["payload"]
    assert payload["aud"] == workspace.workspace.environments.get(name="staging").audience
    assert payload["tenantId"] == workspace.workspace.id


def test_a_hash_can_replace_the_arguments(api):
    by_hash = {"sub": "u", "operation": "GET /a", "argsHash": args_hash({"page": "2"})}
    assert api.post(ADDRESS, by_hash).json()["payload"]["argsHash"] == args_hash({"page": "2"})


@pytest.mark.parametrize("args", [{}, [], None, "text", 1.5, {"b": 1, "a": [True, None]}])
def test_any_json_value_can_be_the_arguments(api, args):
    minted = api.post(ADDRESS, {**READ, "args": args}).json()
    assert minted["payload"]["argsHash"] == args_hash(args)


def test_tool_call_id_and_step_up_are_signed_as_sent(api):
    payload = api.post(ADDRESS, {**READ, "toolCallId": "call_1", "requiresStepUp": True}).json()["payload"]
    assert (payload["toolCallId"], payload["requiresStepUp"]) == ("call_1", True)
    assert "requiresStepUp" not in api.post(ADDRESS, READ).json()["payload"]


def test_every_intent_has_its_own_nonce_and_tool_call_id(api):
    payloads = [api.post(ADDRESS, READ).json()["payload"] for _ in range(3)]
    assert len({payload["nonce"] for payload in payloads}) == 3
    assert len({payload["toolCallId"] for payload in payloads}) == 3


def test_new_intents_are_signed_with_the_newest_secret(api, workspace):
    old = build_verifier(workspace)
    now = timezone.now()
    workspace.workspace.signing_secrets.update(verifies_until=now + timedelta(hours=24))
    newest = create_signing_secret(workspace.workspace, now=now)
    header = api.post(ADDRESS, READ).json()["header"]
    assert old.explain(header, "GET", "/orders", "page=2")[2].reason == "bad-signature"
    audience = workspace.workspace.environments.get(name="production").audience
    fresh = IntentVerifier(secrets=newest, workspace=workspace.workspace.id, audience=audience, nonces=MemoryNonces())
    assert fresh.verify(header, "GET", "/orders", "page=2").sub == "user_17"


def test_the_record_of_an_intent_has_no_header_nonce_or_arguments(api, production):
    answer = api.post(ADDRESS, {**READ, "toolCallId": "call_1", "args": {"secret": "hunter22"}}).json()
    record = MintedIntent.objects.values().get()
    assert record["environment_id"] == production.pk
    assert (record["tool_call_id"], record["sub"], record["operation"]) == ("call_1", "user_17", "GET /orders")
    assert record["expires_at"] == datetime.fromtimestamp(answer["payload"]["expiresAt"], UTC)
    stored = " ".join(map(str, record.values()))
    assert not any(text in stored for text in (answer["header"], answer["payload"]["nonce"], "hunter22"))


@pytest.mark.parametrize("operation", ["GET /a", "HEAD /a", "OPTIONS /a", "GET /a?b=1"])
def test_reads_need_no_confirmation(operation):
    assert not needs_confirmation(operation)


@given(st.text(max_size=20).filter(lambda text: not text.startswith(("GET /", "HEAD /", "OPTIONS /"))))
def test_every_operation_other_than_a_read_needs_a_confirmation(operation):
    assert needs_confirmation(operation)


@pytest.mark.parametrize(
    "operation", ["POST /a", "DELETE /a", "get /a", "GETX /a", "GET a", " GET /a", "orders.refund"]
)
def test_a_write_without_a_confirmation_is_refused(api, operation):
    response = api.post(ADDRESS, {**READ, "operation": operation})
    assert (response.status_code, response.json()["code"]) == (409, "confirmation-required")
    assert MintedIntent.objects.count() == 0


def test_a_confirmed_write_is_minted_once(api):
    confirmation = confirm(api)
    first = api.post(ADDRESS, {**WRITE, "confirmationId": confirmation})
    assert first.status_code == 201
    assert Confirmation.objects.get().state == "used"
    assert MintedIntent.objects.get().confirmation_id == Confirmation.objects.get().pk
    again = api.post(ADDRESS, {**WRITE, "confirmationId": confirmation})
    assert (again.status_code, again.json()["code"]) == (409, "confirmation-required")


@pytest.mark.parametrize(
    "other",
    [{"sub": "user_18"}, {"operation": "POST /refund"}, {"args": {"orderId": 8412, "amount": 1251}},
     {"environment": "staging"}],
)  # fmt: skip
def test_a_confirmation_is_for_exactly_one_call(api, other):
    confirmation = confirm(api)
    response = api.post(ADDRESS, {**WRITE, **other, "confirmationId": confirmation})
    assert response.status_code == 409
    assert Confirmation.objects.get().state == "confirmed"


def test_a_confirmed_call_may_be_minted_by_the_hash_of_its_arguments(api):
    confirmation = confirm(api)
    call = {"sub": WRITE["sub"], "operation": WRITE["operation"], "argsHash": args_hash(WRITE["args"])}
    assert api.post(ADDRESS, {**call, "confirmationId": confirmation}).status_code == 201


@pytest.mark.parametrize("decision", [None, "decline"])
def test_only_a_confirmed_confirmation_opens_the_gate(api, decision):
    confirmation_id = api.post("/api/confirmations", {**WRITE, "summary": "Refund"}).json()["confirmationId"]
    if decision:
        api.post(f"/api/confirmations/{confirmation_id}/decision", {"decision": decision})
    response = api.post(ADDRESS, {**WRITE, "confirmationId": confirmation_id})
    assert response.status_code == 409
    assert ("declined" if decision else "pending") in response.json()["detail"]


@pytest.fixture
def call():
    return Call("user_17", "POST /refunds", args_hash({"amount": 1}))


def confirm_call(production, call, now) -> Confirmation:
    confirmation = confirmations.request_confirmation(production, call, "Refund", now=now)
    return confirmations.decide_confirmation(production.workspace, confirmation.pk, "confirm", actor="test", now=now)


def test_a_confirmed_confirmation_expires_after_15_minutes(production, call):
    now = timezone.now()
    confirmation = confirm_call(production, call, now)
    expiry = now + timedelta(minutes=15)
    with pytest.raises(DomainError) as raised:
        mint_for_call(production, call, confirmation_id=confirmation.pk, now=expiry)
    assert "expired" in raised.value.detail
    assert mint_for_call(production, call, confirmation_id=confirmation.pk, now=expiry - timedelta(seconds=1))


def test_a_used_confirmation_covers_redelivery_of_its_tool_call_for_24_hours(production, call):
    now = timezone.now()
    confirmation = confirm_call(production, call, now)

    def mint_again(tool_call_id: str, delay: timedelta, call: Call = call) -> bool:
        try:
            mint_for_call(production, call, tool_call_id=tool_call_id, confirmation_id=confirmation.pk, now=now + delay)
        except DomainError as error:
            assert error.code == "confirmation-required"
            return False
        return True

    assert mint_again("call_1", timedelta())
    assert mint_again("call_1", timedelta(hours=23, minutes=59))
    assert not mint_again("call_2", timedelta(minutes=1))
    assert not mint_again("call_1", timedelta(minutes=1), Call("user_17", "POST /refunds", args_hash({"amount": 2})))
    assert not mint_again("call_1", timedelta(hours=24))
    nonces = MintedIntent.objects.filter(tool_call_id="call_1").count()
    assert nonces == 2


def test_redelivery_works_with_a_tool_call_id_made_by_the_hub(api):
    confirmation = confirm(api)
    first = api.post(ADDRESS, {**WRITE, "confirmationId": confirmation}).json()["payload"]
    again = api.post(ADDRESS, {**WRITE, "confirmationId": confirmation, "toolCallId": first["toolCallId"]})
    assert again.status_code == 201
    assert again.json()["payload"]["nonce"] != first["nonce"]


def test_a_confirmation_of_another_workspace_is_unknown(api, other_workspace):
    confirmation = confirm(api)
    foreign = api.post(ADDRESS, {**WRITE, "confirmationId": confirmation}, key=other_workspace.full_key)
    unknown = api.post(ADDRESS, {**WRITE, "confirmationId": "5f0b7c1e-5c3b-4a57-9d0e-2f6f0c9a3b11"})
    assert (foreign.status_code, foreign.json()["detail"]) == (unknown.status_code, unknown.json()["detail"])
    assert Confirmation.objects.get().state == "confirmed"


def test_a_repeated_request_gets_the_same_intent_which_is_stored_encrypted(api):
    headers = {"Idempotency-Key": "k1"}
    first, second = api.post(ADDRESS, READ, headers=headers), api.post(ADDRESS, READ, headers=headers)
    assert (second.status_code, second.content) == (201, first.content)
    assert second["Idempotent-Replayed"] == "true"
    answer = IdempotentAnswer.objects.get()
    assert answer.encrypted
    assert first.json()["header"].encode() not in bytes(answer.body)
    assert answer.expires_at.timestamp() <= first.json()["payload"]["expiresAt"]


def test_every_fault_of_the_body_is_listed(api):
    body = {"sub": "", "operation": 7, "args": {}, "argsHash": "A" * 64, "toolCallId": None,
            "requiresStepUp": "yes", "confirmationId": "x"}  # fmt: skip
    assert list_faults(api.post(ADDRESS, body)) == {
        "/sub": "blank",
        "/operation": "invalid",
        "/args": "args-or-hash",
        "/argsHash": "hash",
        "/toolCallId": "null",
        "/requiresStepUp": "invalid",
        "/confirmationId": "invalid",
    }


@pytest.mark.parametrize("body", [{}, {"args": {}, "argsHash": "0" * 64}])
def test_exactly_one_of_args_and_hash_is_needed(api, body):
    assert "/args" in list_faults(api.post(ADDRESS, {"sub": "u", "operation": "GET /a", **body}))


INEXACT = ["9007199254740993", "9007199254740993.0", "0.10000000000000000001", "1e-400", "12345678901234567.891"]


@pytest.mark.parametrize("address", [ADDRESS, "/api/confirmations"])
@pytest.mark.parametrize("number", INEXACT)
def test_a_number_that_would_share_its_hash_with_another_is_refused_without_being_repeated(api, address, number):
    text = f'{{"sub": "u", "operation": "GET /a", "summary": "A", "args": {{"a": [{number}]}}}}'
    response = api.post(address, text.encode())
    assert list_faults(response) == {"/args": "not-canonical"}
    assert number not in response.content.decode()
    assert (MintedIntent.objects.count(), Confirmation.objects.count()) == (0, 0)


@pytest.mark.parametrize("number", ["1.0", "12.50", "1E2", "-0.0", "0e-400", "9007199254740992.0", "0.1", "1e-7"])
def test_arguments_have_the_same_hash_as_a_body_with_the_same_text(api, number):
    text = f'{{"sub": "u", "operation": "GET /a", "args": {{"a": {number}}}}}'
    minted = api.post(ADDRESS, text.encode()).json()["payload"]
    assert minted["argsHash"] == request_args(f'{{"a": {number}}}'.encode(), "application/json").hash


def test_numbers_outside_the_arguments_may_be_inexact(api):
    text = b'{"x": {"args": 1e-400}, "sub": "u", "operation": "GET /a", "\\u0061rgs" : [1], "y": 9007199254740993}'
    assert api.post(ADDRESS, text).json()["payload"]["argsHash"] == args_hash([1])


def test_an_intent_that_no_header_can_hold_is_refused(api):
    body = {"sub": "\U0001f4da" * 255, "operation": "GET /" + "\U0001f4da" * 1990, "args": {}}
    assert list_faults(api.post(ADDRESS, body)) == {"/operation": "too-long"}


def test_a_key_without_the_scope_mints_nothing(api, workspace):
    workspace.workspace.api_keys.update(scopes=["report"])
    response = api.post(ADDRESS, READ)
    assert (response.status_code, response.json()["code"]) == (403, "scope-missing")
    assert MintedIntent.objects.count() == 0


def test_another_workspace_mints_only_with_its_own_secret(api, workspace, other_workspace):
    minted = api.post(ADDRESS, READ, key=other_workspace.full_key).json()
    header, payload = minted["header"], minted["payload"]
    assert payload["tenantId"] == other_workspace.workspace.id
    assert build_verifier(other_workspace).verify(header, "GET", "/orders", "page=2").payload == payload
    assert build_verifier(workspace).explain(header, "GET", "/orders", "page=2")[2].reason == "bad-signature"
    assert not MintedIntent.objects.filter(environment__workspace=workspace.workspace).exists()
    assert json.dumps(payload).find(workspace.workspace.id) == -1
