"""Build header values and vectors of intents, with the standard library alone."""

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
        "contentEncoding": None,
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


def encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def v2(**changes: Any) -> Payload:
    """Return a payload of version 2 for the default request; a member changed to `...` is left out."""
    payload = {
        "v": 2, "toolCallId": "call-1", "tenantId": WORKSPACE, "sub": "user-42", "aud": AUDIENCE,
        "operation": "POST /orders", "argsHash": sha256(BODY_CANONICAL), "nonce": "n-1",
        "issuedAt": ISSUED, "expiresAt": EXPIRES,
    }  # fmt: skip
    return _apply_changes(payload, changes)


def v1(**changes: Any) -> Payload:
    """Return a payload of version 1 for the default request; a member changed to `...` is left out."""
    payload = {
        "toolCallId": "call-1", "tenantId": WORKSPACE, "userId": "user-42", "method": "POST", "path": "/orders",
        "issuedAt": ISSUED, "expiresAt": EXPIRES,
    }  # fmt: skip
    return _apply_changes(payload, changes)


def _apply_changes(payload: Payload, changes: Mapping[str, Any]) -> Payload:
    return {name: value for name, value in {**payload, **changes}.items() if value is not ...}


def v2_without_args(operation: str, **changes: Any) -> Payload:
    """Return a payload of version 2 for a call without arguments."""
    return v2(operation=operation, argsHash=sha256("{}"), **changes)


def compact_json(payload: Payload) -> bytes:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


def signature(text: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode_header(header: str) -> bytes:
    return base64.urlsafe_b64decode(header + "=" * (-len(header) % 4))


def envelope(text: bytes, signed_text: bytes | None = None, secret: str = SECRET) -> bytes:
    """Return the envelope.

    text: the payload as it is sent.
    signed_text: the one that was signed, if it differs.
    """
    return b'{"payload":%b,"signature":"%b"}' % (text, signature(signed_text or text, secret).encode())


def header(payload: Payload | bytes, *, signed_text: bytes | None = None, secret: str = SECRET) -> str:
    text = payload if isinstance(payload, bytes) else compact_json(payload)
    return base64url(envelope(text, signed_text, secret))


def payload_of_remainder(remainder: int) -> Payload:
    """Return a payload whose unpadded header value has a length of this remainder modulo 4: 0, 2 or 3."""
    return next(payload for length in (1, 2, 3) if len(header(payload := v2(nonce="n" * length))) % 4 == remainder)


def accept(name: str, description: str, payload: Payload, header_: str | None = None, **rest: Any) -> Vector:
    """Return a vector that is accepted.

    header_: the header; without it, the compact payload, signed as it is sent.
    rest: see `vector`.
    """
    header_value = header(payload) if header_ is None else header_
    return vector(f"accepted/{name}", description, header_value, {"accepted": payload}, **rest)


def reject(reason: str, name: str, description: str, header_: str | None, **rest: Any) -> Vector:
    """Return a vector that is rejected for this reason.

    rest: see `vector`.
    """
    return vector(f"{reason}/{name}", description, header_, {"reason": reason}, **rest)


def vector(
    name: str,
    description: str,
    header_: str | None,
    answer: Mapping[str, Any],
    *,
    verifier: Mapping[str, Any] | None = None,
    burnt: list[list[str]] | None = None,
    signer: str | None = None,
    **request: Any,
) -> Vector:
    """Return one vector.

    verifier, request: members that differ from DEFAULTS; a request's `body` is bytes.
    """
    if "body" in request:
        request["bodyBase64"] = encode_base64(request.pop("body"))
    content: Vector = {"id": name, "description": description}
    if signer:
        content["signer"] = signer
    if verifier:
        content["verifier"] = dict(verifier)
    content["request"] = {"header": header_, **request}
    if burnt:
        content["burntNonces"] = burnt
    return {**content, "expected": dict(answer)}
