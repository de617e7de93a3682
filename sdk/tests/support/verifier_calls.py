"""Intents and requests for the tests of the verifier: one workspace, one request, one moment."""

import json

from affidavit._intents.intent import mint_intent, sign_payload
from affidavit._intents.nonces import MemoryNonces
from affidavit._intents.verifier import IntentRejected, IntentVerifier

SECRET, OTHER_SECRET = "gas_" + "a" * 43, "gas_" + "b" * 43
NOW = 1_800_000_000.0
WORKSPACE, AUDIENCE = "lumen", "https://api.lumen.example"
BODY = b'{"isbn": "978", "qty": 2}'
REQUEST = {"method": "POST", "path": "/orders", "body": BODY, "content_type": "application/json"}


def verifier(secrets=SECRET, workspace=WORKSPACE, nonces=None, **options) -> IntentVerifier:
    store = nonces or MemoryNonces(several_workers=True)
    return IntentVerifier(
        secrets=secrets, workspace=workspace, audience=AUDIENCE, nonces=store, **{"now": lambda: NOW, **options}
    )


def mint_example(secret=SECRET, **changes):
    call = {"tenant_id": WORKSPACE, "sub": "user-1", "aud": AUDIENCE, "operation": "POST /orders", "now": NOW}
    if "args_hash" not in changes:
        call["args"] = json.loads(BODY)
    return mint_intent(secret, **{**call, **changes})


def v1(secret=SECRET, **changes) -> str:
    return sign_payload(secret, {
        "toolCallId": "call-1", "tenantId": WORKSPACE, "method": "POST", "path": "/orders",
        "issuedAt": NOW, "expiresAt": NOW + 300, **changes,
    })  # fmt: skip


def sign_example(secret=SECRET, **changes) -> str:
    return sign_payload(secret, {**mint_example().payload, **changes})


def reason(header, subject=None, **request) -> str | None:
    try:
        (subject or verifier()).verify(header, **{**REQUEST, **request})
    except IntentRejected as rejection:
        return rejection.reason
    return None
