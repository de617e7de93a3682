"""Signed tool calls for the tests of the adapters: one workspace, its secret, and what a backend protects with."""

import json
import threading
from collections.abc import Mapping
from typing import Any

from affidavit import IntentVerifier, MemoryDeliveries, MemoryNonces, Protection, StoreUnavailable, mint_intent
from affidavit._intents.intent import sign_payload

SECRET = "gas_" + "s" * 43
WORKSPACE, AUDIENCE = "ws_0123456789abcdef", "urn:affidavit:lumen:production"


def protection(*, nonces: Any = None, deliveries: Any = None, step_up: Any = None, **options: Any) -> Protection:
    """A Protection on memory stores, unless others are given."""
    verifier = IntentVerifier(
        SECRET, WORKSPACE, AUDIENCE, nonces or MemoryNonces(several_workers=True), step_up=step_up
    )
    return Protection(verifier, deliveries or MemoryDeliveries(several_workers=True), **options)


def signed(operation: str, args: Any, **options: Any) -> str:
    """The header value of a fresh version 2 intent."""
    return mint_intent(
        SECRET, tenant_id=WORKSPACE, sub="user-1", aud=AUDIENCE, operation=operation, args=args, **options
    ).header


def signed_v1(method: str, path: str, *, now: float) -> str:
    return sign_payload(SECRET, {
        "toolCallId": "call-v1", "tenantId": WORKSPACE, "method": method, "path": path,
        "issuedAt": now, "expiresAt": now + 300,
    })  # fmt: skip


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


class Away:
    """A store that cannot be reached."""

    def burn(self, *_: Any, **__: Any) -> bool:
        raise StoreUnavailable("away")

    is_burnt = burn
    claim = renew = finish = abandon = burn


class Noted:
    """Verification reports that are only written down."""

    dropped = 0

    def __init__(self) -> None:
        self.told: list[tuple[str, Mapping[str, Any]]] = []
        self._lock = threading.Lock()

    def add(self, result: str, **facts: Any) -> None:
        with self._lock:
            self.told.append((result, facts))

    @property
    def operations(self) -> list[tuple[str, str]]:
        return [(result, facts["operation"]) for result, facts in self.told]
