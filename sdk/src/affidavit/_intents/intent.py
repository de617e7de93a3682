"""Intents: the payload of one signed permission for one tool call, read and minted (contract §3)."""

import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from secrets import token_urlsafe
from typing import Any, TypeVar

from affidavit._canonical import canonical_json
from affidavit._json import Json, parse

from .args import args_hash as hash_of
from .envelope import MAX_ENVELOPE_DEPTH, MAX_HEADER, Unreadable, seal
from .signing_key import build_signing_key

DEFAULT_LIFETIME = 300
MAX_MINTED_LIFETIME = 900
MILLISECONDS_FROM = 1e11
"""A time of at least this value is in milliseconds, a smaller one in seconds."""

T = TypeVar("T")

_KIND_NAMES: dict[type, str] = {str: "string", bool: "boolean"}
_NOT_GIVEN: Any = object()
_SHA256_HEX = re.compile(r"[0-9a-f]{64}")
_STRINGS = {
    1: ("toolCallId", "tenantId", "method", "path"),
    2: ("toolCallId", "tenantId", "sub", "aud", "operation", "argsHash", "nonce"),
}
_GET_STRINGS = {version: itemgetter(*names) for version, names in _STRINGS.items()}
_ONLY_IN_V2 = frozenset({"v", "sub", "aud", "operation", "argsHash", "nonce", "requiresStepUp"})


@dataclass(slots=True, repr=False)
class Intent:
    """A verified intent: what a handler may rely on.

    payload: all members as they were signed.
    version: 1 or 2.
    workspace: the member `tenantId` on the wire.
    tool_call_id: the idempotency key, the same in every delivery of the call.
    sub: the end user to authorize against; in version 1 `userId`, None for an anonymous call.
    operation: the signed operation; in version 1 the signed method and path.
    issued_at, expires_at: Unix seconds.
    audience, args_hash, nonce: None in version 1.
    args: the verified arguments, as `RequestArgs.value`; None in version 1, which binds none. As with the JSON of a
        request, a type checker does not know what they are.
    signed_with: the first 8 characters of the signing secret that made the signature; empty if the secret does not
        begin with `gas_`.
    """

    payload: Mapping[str, Json]
    version: int
    tool_call_id: str
    workspace: str
    sub: str | None
    audience: str | None
    operation: str
    args_hash: str | None
    nonce: str | None
    issued_at: float
    expires_at: float
    requires_step_up: bool
    args: Any = None
    signed_with: str = ""

    def __repr__(self) -> str:
        return f"<Intent v{self.version} toolCallId={self.tool_call_id!r}>"


def detect_version(payload: Mapping[str, Json]) -> int | None:
    """Return the version of a payload, None if it is of neither version.

    It is 2 if `v` is the number 2, and 1 if the payload has no member that only version 2 has, such as `v`.
    """
    version = payload.get("v")
    if version == 2 and type(version) in (int, float):
        return 2
    return 1 if payload.keys().isdisjoint(_ONLY_IN_V2) else None


def require_known_version(minimum_version: int | None) -> None:
    """Raise ValueError for a minimum that is no version: 3 would let nothing pass, and "2" cannot be compared."""
    if minimum_version is not None and (type(minimum_version) is not int or minimum_version not in _STRINGS):
        raise ValueError(f"minimum_version: expected 1 or 2, got {minimum_version!r}")


def read_intent(payload: Mapping[str, Json], version: int) -> Intent:
    """Return the intent in a payload of that version. Raises Unreadable, which names the faulty member."""
    issued_at, expires_at = _read_times(payload)
    if version == 1:
        tool_call_id, workspace, method, path = _read_strings(payload, 1)
        user = _read_optional(payload, "userId", str)
        operation = f"{method} {path}"
        return Intent(
            payload, 1, tool_call_id, workspace, user, None, operation, None, None,
            issued_at, expires_at, requires_step_up=False,
        )  # fmt: skip
    tool_call_id, workspace, sub, aud, operation, args_hash, nonce = _read_strings(payload, 2)
    step_up = _read_optional(payload, "requiresStepUp", bool) or False
    return Intent(
        payload, 2, tool_call_id, workspace, sub, aud, operation, args_hash, nonce,
        issued_at, expires_at, step_up,
    )  # fmt: skip


def _read_strings(payload: Mapping[str, Json], version: int) -> tuple[str, ...]:
    """Return the string members of that version. Raises Unreadable if one is missing, empty or not a string."""
    try:
        values: tuple[str, ...] = _GET_STRINGS[version](payload)
    except KeyError as missing:
        raise Unreadable(f"{missing.args[0]} is missing") from None
    for value in values:
        if type(value) is not str or not value:
            name = _STRINGS[version][values.index(value)]
            raise Unreadable(f"{name} has to be a string, and not an empty one")
    return values


def _read_optional(payload: Mapping[str, Json], name: str, kind: type[T]) -> T | None:
    if name not in payload:
        return None
    value = payload[name]
    if type(value) is not kind:
        raise Unreadable(f"{name} is present, but not a {_KIND_NAMES[kind]}")
    return value


def _read_times(payload: Mapping[str, Json]) -> tuple[float, float]:
    """Return issuedAt and expiresAt in Unix seconds."""
    issued_at, expires_at = _read_number(payload, "issuedAt"), _read_number(payload, "expiresAt")
    if issued_at < MILLISECONDS_FROM and expires_at < MILLISECONDS_FROM:
        return issued_at, expires_at
    if issued_at < MILLISECONDS_FROM or expires_at < MILLISECONDS_FROM:
        raise Unreadable("issuedAt and expiresAt are in different units")
    return issued_at / 1000, expires_at / 1000


def _read_number(payload: Mapping[str, Json], name: str) -> float:
    value = payload.get(name)
    if type(value) is int or type(value) is float:
        return value
    raise Unreadable(f"{name} has to be a number")


@dataclass(frozen=True, slots=True)
class MintedIntent:
    """A signed intent.

    header: the value of X-Service-Intent, secret until it expires.
    payload: the members that were signed.
    """

    header: str
    payload: dict[str, Json]

    def __repr__(self) -> str:
        return f"<MintedIntent toolCallId={self.payload['toolCallId']!r}>"


def mint_intent(
    secret: str,
    *,
    tenant_id: str,
    sub: str,
    aud: str,
    operation: str,
    args: Any = _NOT_GIVEN,
    args_hash: str | None = None,
    lifetime: int = DEFAULT_LIFETIME,
    tool_call_id: str | None = None,
    nonce: str | None = None,
    requires_step_up: bool | None = None,
    now: float | None = None,
) -> MintedIntent:
    """Mint a version 2 intent for one tool call (contract §3).

    Pass exactly one of args (the arguments as a JSON value, `{}` for none) and args_hash (their hash).

    operation: `METHOD path`, with `?query` if a call has both a body and a query.
    lifetime: seconds, 1 to 900.
    now: Unix seconds.

    Raises ValueError for a weak secret and for anything that a verifier would reject as malformed.
    """
    if type(lifetime) is not int or not 1 <= lifetime <= MAX_MINTED_LIFETIME:
        raise ValueError(f"lifetime is a whole number of seconds from 1 to {MAX_MINTED_LIFETIME}")
    if (args is _NOT_GIVEN) is (args_hash is None):
        raise ValueError("give exactly one of args and args_hash; a call without arguments has args={}")
    if args_hash is not None and not _SHA256_HEX.fullmatch(args_hash):
        raise ValueError("args_hash is 64 lower-case hex digits")
    issued_at = int(time.time() if now is None else now)
    payload: dict[str, Json] = {
        "v": 2,
        "toolCallId": tool_call_id or str(uuid.uuid4()),
        "tenantId": tenant_id,
        "sub": sub,
        "aud": aud,
        "operation": operation,
        "argsHash": args_hash or hash_of(args),
        "nonce": nonce or token_urlsafe(24),
        "issuedAt": issued_at,
        "expiresAt": issued_at + lifetime,
    }
    if requires_step_up is not None:
        payload["requiresStepUp"] = requires_step_up
    read_intent(payload, 2)
    return MintedIntent(sign_payload(secret, payload), payload)


def sign_payload(secret: str, payload: Mapping[str, Json]) -> str:
    """Return the header value for a payload of any version. The signature is over the payload's RFC 8785 form."""
    text = canonical_json(dict(payload))
    parse(text, max_depth=MAX_ENVELOPE_DEPTH - 1)  # as strict as the verifier, so that a fault is found before signing
    header = seal(text, build_signing_key(secret))
    if len(header) > MAX_HEADER:
        raise ValueError("the intent would be over 8 KiB: shorten what goes into it")
    return header
