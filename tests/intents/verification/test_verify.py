"""POST /api/intents/verify: the hub gives the same answers as the SDK, and tallies them (contract §3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from affidavit import REASONS, IntentRejected, StoreUnavailable, args_hash, mint_intent
from intents.models import Rejection, VerificationTally
from intents.verification.received_request import ReceivedRequest
from intents.verification.verify import verify_request
from wire.models import IdempotentAnswer
from workspaces.secrets.create import create_signing_secret
from workspaces.secrets.rotate import rotate_secret

ADDRESS = "/api/intents/verify"
BODY = json.dumps({"amount": 1250}).encode()


@pytest.fixture
def mint(workspace, production):
    """Return a function that mints a header as the platform does. Its arguments replace facts of the intent."""

    def make(**facts) -> str:
        facts = {
            "tenant_id": workspace.workspace.id,
            "sub": "user_17",
            "aud": production.audience,
            "operation": "POST /refunds/8412",
            "args": {"amount": 1250},
            **facts,
        }
        return mint_intent(facts.pop("secret", workspace.signing_secret), **facts).header

    return make


def build_body(header: str | None, **members) -> dict:
    call = {
        "method": "POST",
        "path": "/refunds/8412",
        "contentType": "application/json",
        "bodyBase64": base64.b64encode(BODY).decode(),
        **members,
    }
    return call if header is None else {"header": header, **call}


def list_tallies() -> list[tuple[str, int, str, int]]:
    return list(VerificationTally.objects.values_list("result", "version", "operation", "count"))


def test_the_answer_has_the_facts_of_an_accepted_intent_which_is_tallied(api, mint):
    response = api.post(ADDRESS, build_body(mint(tool_call_id="call_1")))
    assert response.status_code == 200
    intent = response.json()["intent"]
    assert (intent["v"], intent["sub"], intent["toolCallId"]) == (2, "user_17", "call_1")
    assert intent["argsHash"] == args_hash({"amount": 1250})
    assert list_tallies() == [("accepted", 2, "POST /refunds/{refundId}", 1)]


def test_after_a_rotation_a_secret_whose_key_is_lost_does_not_stop_verification(api, workspace, mint, settings):
    settings.SECRET_KEY = "n" * 50
    assert api.post(ADDRESS, build_body(mint())).status_code == 500  # not a rejection: nothing can be verified
    assert list_tallies() == []
    secret = rotate_secret(workspace.workspace, actor="ada", now=timezone.now()).text
    assert api.post(ADDRESS, build_body(mint(secret=secret))).status_code == 200
    assert api.post(ADDRESS, build_body(mint())).json()["reason"] == "bad-signature"


def test_an_intent_minted_by_the_hub_passes(api):
    read = {"sub": "u", "operation": "GET /orders", "args": {"page": "2"}}
    header = api.post("/api/intents", read).json()["header"]
    response = api.post(ADDRESS, {"header": header, "method": "GET", "path": "/orders", "query": "page=2"})
    assert response.status_code == 200


def test_a_rejection_is_a_problem_with_its_reason_and_is_stored(api, mint):
    response = api.post(ADDRESS, build_body(mint(tool_call_id="call_1", args={"amount": 1})))
    assert (response.status_code, response["Content-Type"]) == (403, "application/problem+json")
    problem = response.json()
    assert (problem["code"], problem["reason"]) == ("intent-rejected", "args-mismatch")
    assert problem["detail"].endswith(REASONS["args-mismatch"].usual_fix)
    assert problem["requestId"] == response["X-Request-Id"]
    rejection = Rejection.objects.get()
    assert (rejection.reason, rejection.version, rejection.tool_call_id) == ("args-mismatch", 2, "call_1")
    assert rejection.operation == "POST /refunds/{refundId}"


def sign_v1(workspace, **facts):
    from_now = int(timezone.now().timestamp())
    payload = {
        "toolCallId": "call_v1", "tenantId": workspace.workspace.id, "method": "POST", "path": "/refunds/8412",
        "issuedAt": from_now, "expiresAt": from_now + 300, **facts,
    }  # fmt: skip
    return sign(json.dumps(payload).encode(), workspace.signing_secret)


def sign(payload: bytes, secret: str) -> str:
    signature = hmac.new(secret.encode(), payload, hashlib.sha256).hexdigest()
    return base64.urlsafe_b64encode(b'{"payload":%b,"signature":"%b"}' % (payload, signature.encode())).decode()


EXPECTED = {
    "missing-header": lambda make, workspace: build_body(None),
    "malformed": lambda make, workspace: build_body("not base64url"),
    "bad-signature": lambda make, workspace: build_body(make(secret="gas_" + "x" * 43)),
    "unsupported-version": lambda make, workspace: build_body(sign_v1(workspace, v=3)),
    "expired": lambda make, workspace: build_body(make(now=timezone.now().timestamp() - 400)),
    "not-yet-valid": lambda make, workspace: build_body(make(now=timezone.now().timestamp() + 90)),
    "lifetime-too-long": lambda make, workspace: build_body(sign_v1(workspace, issuedAt=1, expiresAt=4_000_000_000)),
    "tenant-mismatch": lambda make, workspace: build_body(make(tenant_id="ws_other")),
    "audience-mismatch": lambda make, workspace: build_body(make(aud="urn:another")),
    "operation-mismatch": lambda make, workspace: build_body(make(operation="POST /refunds/8413")),
    "method-mismatch": lambda make, workspace: build_body(sign_v1(workspace, method="PUT")),
    "path-mismatch": lambda make, workspace: build_body(sign_v1(workspace, path="/refunds")),
    "args-mismatch": lambda make, workspace: build_body(make(args={})),
    "step-up-required": lambda make, workspace: build_body(make(requires_step_up=True), stepUp=False),
}  # fmt: skip


@pytest.mark.parametrize("reason", EXPECTED)
def test_every_reason_is_given_and_tallied(api, mint, workspace, reason):
    response = api.post(ADDRESS, EXPECTED[reason](mint, workspace))
    assert (response.status_code, response.json().get("reason")) == (403, reason)
    assert [(result, count) for result, _, _, count in list_tallies()] == [(reason, 1)]


def test_an_intent_verified_a_second_time_is_replayed(api, mint):
    header = mint()
    assert api.post(ADDRESS, build_body(header)).status_code == 200
    again = api.post(ADDRESS, build_body(header))
    assert (again.status_code, again.json()["reason"]) == (403, "replayed")
    assert {*EXPECTED, "replayed"} == {*REASONS}


def test_a_rejection_does_not_use_the_nonce(api, mint):
    header = mint()
    assert api.post(ADDRESS, build_body(header, path="/refunds")).status_code == 403
    assert api.post(ADDRESS, build_body(header)).status_code == 200


def test_an_intent_with_step_up_passes_after_the_step_up(api, mint):
    assert api.post(ADDRESS, build_body(mint(requires_step_up=True), stepUp=True)).status_code == 200


def test_version_1_passes_while_its_window_is_open(api, workspace):
    header = sign_v1(workspace)
    assert api.post(ADDRESS, build_body(header)).json()["intent"]["toolCallId"] == "call_v1"
    workspace.workspace.v1_until = timezone.now() - timedelta(seconds=1)
    workspace.workspace.save()
    assert api.post(ADDRESS, build_body(header)).json()["reason"] == "unsupported-version"


def test_the_previous_secret_verifies_until_its_end(api, mint, workspace):
    headers = [mint(), mint()]
    now = timezone.now()
    workspace.workspace.signing_secrets.update(verifies_until=now + timedelta(hours=24))
    create_signing_secret(workspace.workspace, now=now)
    assert api.post(ADDRESS, build_body(headers[0])).status_code == 200
    workspace.workspace.signing_secrets.filter(verifies_until__isnull=False).update(verifies_until=now)
    assert api.post(ADDRESS, build_body(headers[1])).json()["reason"] == "bad-signature"


def test_a_body_and_a_query_need_the_query_in_the_operation(api, mint):
    query = "dry=1"
    plain = api.post(ADDRESS, build_body(mint(), query=query))
    assert plain.json()["reason"] == "operation-mismatch"
    bound = api.post(ADDRESS, build_body(mint(operation=f"POST /refunds/8412?{query}"), query=query))
    assert bound.status_code == 200


@pytest.mark.parametrize("path", ["/refunds/..", "/a%2Fb", "/a\\b", "/a?b"])
def test_an_ambiguous_path_is_refused_even_if_it_was_signed(api, mint, path):
    response = api.post(ADDRESS, build_body(mint(operation=f"POST {path}"), path=path))
    assert response.json()["reason"] == "operation-mismatch"


def test_a_percent_sign_is_an_ordinary_character_of_a_decoded_path(api, mint):
    response = api.post(ADDRESS, build_body(mint(operation="POST /off/100%"), path="/off/100%"))
    assert response.status_code == 200


@pytest.mark.parametrize(("path", "status"), [("/bücher/8 1", 200), ("/b%C3%BCcher/8%201", 403)])
def test_the_api_docs_ask_for_the_decoded_path_and_only_that_passes(api, mint, path, status):
    response = api.post(ADDRESS, build_body(mint(operation="POST /bücher/8 1"), path=path))
    assert response.status_code == status
    document = api.client.get("/api/openapi.json").json()
    description = document["components"]["schemas"]["VerifyForm"]["properties"]["path"]["description"]
    assert description == "The decoded path that the framework routes on."


@pytest.mark.parametrize(("encoding", "status"), [("gzip", 403), ("identity", 200), ("", 200)])
def test_an_encoded_body_is_refused(api, mint, encoding, status):
    response = api.post(ADDRESS, build_body(mint(), contentEncoding=encoding))
    assert (response.status_code, response.json().get("reason")) == (status, "args-mismatch" if status == 403 else None)


def test_the_audience_is_that_of_the_named_environment(api, mint):
    response = api.post(ADDRESS, build_body(mint(), environment="staging"))
    assert response.json()["reason"] == "audience-mismatch"
    assert VerificationTally.objects.get().environment.name == "staging"


def test_a_retry_with_its_idempotency_key_gets_the_same_acceptance(api, mint):
    body, headers = build_body(mint()), {"Idempotency-Key": "k1"}
    first, second = api.post(ADDRESS, body, headers=headers), api.post(ADDRESS, body, headers=headers)
    assert (second.status_code, second.content) == (200, first.content)
    assert [count for *_, count in list_tallies()] == [1]


def test_a_rejection_stays_tallied_under_an_idempotency_key(api, mint):
    response = api.post(ADDRESS, build_body(mint(aud="urn:another")), headers={"Idempotency-Key": "k1"})
    assert response.status_code == 403
    assert list_tallies()[0][0] == "audience-mismatch"


def test_a_nonce_stays_burnt_when_the_tally_fails(production, mint):
    request = ReceivedRequest(mint(), "POST", "/refunds/8412", body=BODY, content_type="application/json")
    with (
        mock.patch("intents.verification.verify.record_verifications", side_effect=RuntimeError),
        pytest.raises(RuntimeError),
    ):
        verify_request(production, request, now=timezone.now())
    with pytest.raises(IntentRejected, match="replayed"):
        verify_request(production, request, now=timezone.now())


def test_if_the_tally_fails_after_the_nonce_the_answer_says_that_the_intent_may_be_used_up(api, mint):
    with mock.patch("intents.verification.verify.record_verifications", side_effect=OperationalError):
        response = api.post(ADDRESS, build_body(mint()))
    assert response.status_code == 503
    assert "may have been used up" in response.json()["detail"]


def test_an_unreachable_store_is_503(api, mint):
    with mock.patch("affidavit.SqlNonces.burn", side_effect=StoreUnavailable("away")):
        response = api.post(ADDRESS, build_body(mint()))
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert int(response["Retry-After"]) > 0
    assert list_tallies() == []


@pytest.mark.django_db(transaction=True)
def test_of_sixteen_simultaneous_copies_one_passes(workspace, production):
    header = mint_intent(
        workspace.signing_secret, tenant_id=workspace.workspace.id, sub="u", aud=production.audience,
        operation="GET /a", args={},
    ).header  # fmt: skip
    results: list[str] = []

    def attempt() -> None:
        try:
            verify_request(production, ReceivedRequest(header, "GET", "/a"), now=timezone.now())
            results.append("accepted")
        except IntentRejected as rejection:
            results.append(rejection.reason)
        connection.close()

    threads = [threading.Thread(target=attempt) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["accepted"] + ["replayed"] * 15
    counts = dict(VerificationTally.objects.values_list("result", "count"))
    assert counts == {"accepted": 1, "replayed": 15}


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"method": ""}, "/method"),
        ({"path": None}, "/path"),
        ({"bodyBase64": "a"}, "/bodyBase64"),
        ({"bodyBase64": "YQ==\n"}, "/bodyBase64"),
        ({"bodyBase64": "YQ"}, "/bodyBase64"),
        ({"bodyBase64": 7}, "/bodyBase64"),
        ({"stepUp": 1}, "/stepUp"),
        ({"header": 7}, "/header"),
        ({"query": ["a"]}, "/query"),
    ],
)
def test_a_body_of_the_wrong_form_is_400_and_not_tallied(api, mint, members, pointer):
    response = api.post(ADDRESS, {**build_body(mint()), **members})
    assert response.status_code == 400
    assert [fault["pointer"] for fault in response.json()["errors"]] == [pointer]
    assert list_tallies() == []


def test_a_rejection_repeats_neither_header_nor_body(api, mint):
    header = mint(args={"amount": 1})
    text = api.post(ADDRESS, build_body(header)).content.decode()
    assert header not in text
    assert "1250" not in text


def test_an_outsider_learns_nothing_of_this_workspaces_intents(api, mint, other_workspace):
    response = api.post(ADDRESS, build_body(mint()), key=other_workspace.full_key)
    assert response.json()["reason"] == "bad-signature"
    (tally,) = VerificationTally.objects.all()
    assert tally.environment.workspace_id == other_workspace.workspace.id
    assert (tally.version, Rejection.objects.get().tool_call_id) == (0, "")


def test_a_kept_answer_is_encrypted_and_ends_with_its_intent(api, mint):
    expires_at = int(timezone.now().timestamp()) + 60
    body = build_body(mint(now=expires_at - 300))
    again = {"Idempotency-Key": "verify-once"}
    first = api.post(ADDRESS, body, headers=again)
    replayed = api.post(ADDRESS, body, headers=again)
    assert (first.status_code, replayed.content) == (200, first.content)
    assert replayed["Idempotent-Replayed"] == "true"
    answer = IdempotentAnswer.objects.get()
    assert answer.encrypted
    assert b"user_17" not in bytes(answer.body)
    assert answer.expires_at.timestamp() == expires_at
    with mock.patch("django.utils.timezone.now", return_value=datetime.fromtimestamp(expires_at + 1, UTC)):
        late = api.post(ADDRESS, body, headers=again)
    assert (late.status_code, late.json()["reason"]) == (403, "expired")


@pytest.mark.parametrize("unit", [1, 1000])
def test_a_kept_answer_of_version_1_ends_with_its_intent_in_either_unit(api, workspace, unit):
    expires_at = int(timezone.now().timestamp()) + 60
    header = sign_v1(workspace, issuedAt=(expires_at - 300) * unit, expiresAt=expires_at * unit)
    assert api.post(ADDRESS, build_body(header), headers={"Idempotency-Key": "v1"}).status_code == 200
    assert IdempotentAnswer.objects.get().expires_at.timestamp() == expires_at
