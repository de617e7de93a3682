"""Signed tool calls for the tests of the adapters: one workspace, its secret and its protection."""

import json
import threading
from collections.abc import Mapping
from typing import Any

from affidavit import (
    IntentVerifier,
    MemoryDeliveries,
    MemoryNonces,
    Protection,
    StoreUnavailable,
    mint_intent,
    request_args,
)
from affidavit._intents.intent import sign_payload

SECRET = "gas_" + "s" * 43
WORKSPACE, AUDIENCE = "ws_0123456789abcdef", "urn:affidavit:lumen:production"


def make_protection(*, nonces: Any = None, deliveries: Any = None, step_up: Any = None, **options: Any) -> Protection:
    """Return a Protection, on memory stores by default."""
    verifier = IntentVerifier(
        secrets=SECRET,
        workspace=WORKSPACE,
        audience=AUDIENCE,
        nonces=nonces or MemoryNonces(several_workers=True),
        step_up=step_up,
    )
    return Protection(verifier, deliveries or MemoryDeliveries(several_workers=True), **options)


def sign_call(operation: str, args: Any, **options: Any) -> str:
    """Return the header value of a new version 2 intent."""
    return mint_intent(
        SECRET, tenant_id=WORKSPACE, sub="user-1", aud=AUDIENCE, operation=operation, args=args, **options
    ).header


def sign_bytes(operation: str, body: bytes) -> str:
    """Return the header value of an intent for a body that is not JSON."""
    return mint_intent(
        SECRET, tenant_id=WORKSPACE, sub="user-1", aud=AUDIENCE, operation=operation,
        args_hash=request_args(body, "text/plain").hash,
    ).header  # fmt: skip


def sign_v1_call(method: str, path: str, *, now: float) -> str:
    return sign_payload(SECRET, {
        "toolCallId": "call-v1", "tenantId": WORKSPACE, "method": method, "path": path,
        "issuedAt": now, "expiresAt": now + 300,
    })  # fmt: skip


def encode_json(value: Any) -> bytes:
    return json.dumps(value).encode()


class UnreachableStore:
    """A store that cannot be reached."""

    def burn(self, *_: Any, **__: Any) -> bool:
        raise StoreUnavailable("away")

    is_burnt = burn
    claim = renew = finish = abandon = burn


class RecordedReports:
    """Verification reports that are only recorded."""

    dropped = 0

    def __init__(self) -> None:
        self.verifications: list[tuple[str, Mapping[str, Any]]] = []
        self._lock = threading.Lock()

    def add(self, result: str, **facts: Any) -> None:
        with self._lock:
            self.verifications.append((result, facts))

    @property
    def operations(self) -> list[tuple[str, str]]:
        return [(result, facts["operation"]) for result, facts in self.verifications]
