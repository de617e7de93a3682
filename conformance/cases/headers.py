"""Header values and vectors of intents, from the standard library alone."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

SECRET, NEXT_SECRET, FOREIGN_SECRET = ("gas_" + letter * 43 for letter in "ABC")
WORKSPACE, OTHER_WORKSPACE = "ws_0123456789abcdef", "ws_fedcba9876543210"
AUDIENCE = f"urn:affidavit:{WORKSPACE}:production"
ISSUED, LIFETIME = 1_767_225_600, 300
NOW, EXPIRES, DAY = ISSUED + 10, ISSUED + LIFETIME, 86_400
BODY = '{"note": "für Ömer", "lines": [{"sku": "B-17", "quantity": 2, "price": 12.50}]}'.encode()
BODY_CANONICAL = '{"lines":[{"price":12.5,"quantity":2,"sku":"B-17"}],"note":"für Ömer"}'

DEFAULTS = {
    "verifier": {
        "workspace": WORKSPACE,
        "audience": AUDIENCE,
        "secrets": [SECRET],
        "now": NOW,
        "maxLifetime": DAY,
        "v1Until": None,
        "minimumVersion": 1,
    },
    "request": {
        "header": None,
        "method": "POST",
        "path": "/orders",
        "rawPath": None,
        "query": "",
        "contentType": "application/json",
        "bodyBase64": base64.b64encode(BODY).decode(),
        "operation": None,
        "stepUp": False,
    },
    "burntNonces": [],
}

Payload = dict[str, Any]
Vector = dict[str, Any]


def sha256(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def v2(**changes: Any) -> Payload:
    """A payload of version 2 for the default request; a member changed to `...` is left out."""
    payload = {
        "v": 2, "toolCallId": "call-1", "tenantId": WORKSPACE, "sub": "user-42", "aud": AUDIENCE,
        "operation": "POST /orders", "argsHash": sha256(BODY_CANONICAL), "nonce": "n-1",
        "issuedAt": ISSUED, "expiresAt": EXPIRES,
    }  # fmt: skip
    return _changed(payload, changes)


def v1(**changes: Any) -> Payload:
    """A payload of version 1 for the default request; a member changed to `...` is left out."""
    payload = {
        "toolCallId": "call-1", "tenantId": WORKSPACE, "userId": "user-42", "method": "POST", "path": "/orders",
        "issuedAt": ISSUED, "expiresAt": EXPIRES,
    }  # fmt: skip
    return _changed(payload, changes)


def _changed(payload: Payload, changes: Mapping[str, Any]) -> Payload:
    return {name: value for name, value in {**payload, **changes}.items() if value is not ...}


def no_args(operation: str, **changes: Any) -> Payload:
    """A payload of version 2 for a call without arguments."""
    return v2(operation=operation, argsHash=sha256("{}"), **changes)


def compact(payload: Payload) -> bytes:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


def signature(text: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def unsealed(header: str) -> bytes:
    return base64.urlsafe_b64decode(header + "=" * (-len(header) % 4))


def envelope(text: bytes, signed: bytes | None = None, secret: str = SECRET) -> bytes:
    """text: the payload as it is sent. signed: the text that was signed, if it is another one."""
    return b'{"payload":%b,"signature":"%b"}' % (text, signature(signed or text, secret).encode())


def header(payload: Payload | bytes, *, signed: bytes | None = None, secret: str = SECRET) -> str:
    text = payload if isinstance(payload, bytes) else compact(payload)
    return base64url(envelope(text, signed, secret))


def of_remainder(remainder: int) -> Payload:
    """A payload whose header value, without padding, leaves this remainder by 4: 0, 2 or 3."""
    return next(payload for length in (1, 2, 3) if len(header(payload := v2(nonce="n" * length))) % 4 == remainder)


def accepted(name: str, description: str, payload: Payload, header_: str | None = None, **rest: Any) -> Vector:
    """rest: see `vector`. header_: unless it is the compact payload, signed as it is sent."""
    sent = header(payload) if header_ is None else header_
    return vector(f"accepted/{name}", description, sent, {"accepted": payload}, **rest)


def rejected(reason: str, name: str, description: str, header_: str | None, **rest: Any) -> Vector:
    """rest: see `vector`."""
    return vector(f"{reason}/{name}", description, header_, {"reason": reason}, **rest)


def vector(
    name: str,
    description: str,
    header_: str | None,
    expected: Mapping[str, Any],
    *,
    verifier: Mapping[str, Any] | None = None,
    burnt: list[list[str]] | None = None,
    signer: str | None = None,
    **request: Any,
) -> Vector:
    """One vector. verifier, request: what differs from DEFAULTS; a request's `body` is given as bytes."""
    if "body" in request:
        request["bodyBase64"] = base64_of(request.pop("body"))
    made: Vector = {"id": name, "description": description}
    if signer:
        made["signer"] = signer
    if verifier:
        made["verifier"] = dict(verifier)
    made["request"] = {"header": header_, **request}
    if burnt:
        made["burntNonces"] = burnt
    return {**made, "expected": dict(expected)}
