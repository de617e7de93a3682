"""For the tests of an app that accepts signed calls: mint a header in one line, and protect the app without a hub.

client.post("/refunds", json=args, headers=intent_headers("POST /refunds", args))
"""

from typing import Any

from affidavit._credentials import AUDIENCE_VARIABLE, SECRET_VARIABLE, WORKSPACE_VARIABLE, read_variable, split_secrets
from affidavit._intents.intent import mint_intent
from affidavit._intents.nonces import MemoryNonces
from affidavit._intents.verifier import IntentVerifier
from affidavit._protection.memory_deliveries import MemoryDeliveries
from affidavit._protection.protection import Protection

SECRET = "gas_" + "for-tests-only-" * 2 + "0123456789abc"
WORKSPACE = "ws_0000000000000000"
AUDIENCE = "urn:affidavit:tests:production"


def intent_headers(operation: str, args: Any = None, *, sub: str = "test-user", **options: Any) -> dict[str, str]:
    """Return the header of a call with a fresh intent, as a mapping for a test client.

    operation: the operation as `METHOD path`.
    args: the JSON body, or the query as an object; None if there is neither.
    options: see `mint_intent`, for instance `tool_call_id` for a retry, `now` for an expired intent, or `args_hash` in
        place of args.

    The intent is for the verifier that the environment variables configure (AFFIDAVIT_SIGNING_SECRET,
    AFFIDAVIT_WORKSPACE, AFFIDAVIT_AUDIENCE). If they are not set, it is for the protection of `make_protection`.
    """
    facts: dict[str, Any] = {
        "tenant_id": read_variable(None, WORKSPACE_VARIABLE) or WORKSPACE,
        "sub": sub,
        "aud": read_variable(None, AUDIENCE_VARIABLE) or AUDIENCE,
        "operation": operation,
    }
    if args is not None or "args_hash" not in options:  # with both, mint_intent says that one must be left out
        facts["args"] = {} if args is None else args
    secret = split_secrets(read_variable(None, SECRET_VARIABLE) or SECRET)[0]
    return {"X-Service-Intent": mint_intent(secret, **{**facts, **options}).header}


def make_protection(**options: Any) -> Protection:
    """Return a protection that accepts the intents of `intent_headers`.

    Its stores are in memory, and it reports nothing to a hub.

    options: see `Protection`.
    """
    verifier = IntentVerifier(
        secrets=read_variable(None, SECRET_VARIABLE) or SECRET,
        workspace=read_variable(None, WORKSPACE_VARIABLE) or WORKSPACE,
        audience=read_variable(None, AUDIENCE_VARIABLE) or AUDIENCE,
        nonces=MemoryNonces(several_workers=True),
    )
    return Protection(verifier, MemoryDeliveries(several_workers=True), **options)
