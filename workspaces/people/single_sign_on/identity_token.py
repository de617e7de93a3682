"""Check the identity token of a provider: its signature, and for whom, by whom and when it was made."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeGuard

import jwt

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
CLOCK_TOLERANCE = 60  # seconds
MAX_SUBJECT = 255  # characters (OpenID Connect Core, section 2)


def decode_identity_token(token: str, key_set: Mapping[str, Any], *, client_id: str, issuer: str) -> dict[str, Any]:
    """Return the claims of a valid token. Raises PyJWTError, and ValueError if the key set is none."""
    header = jwt.get_unverified_header(token)
    keys = list_possible_keys(key_set, header)
    if not keys:
        raise jwt.InvalidKeyError("the provider has no key of its algorithm and key id")
    for key in keys[:-1]:
        with suppress(jwt.InvalidSignatureError):  # a key that the token's header does not exclude
            return _decode(token, key, client_id=client_id, issuer=issuer)
    return _decode(token, keys[-1], client_id=client_id, issuer=issuer)


def list_possible_keys(key_set: Mapping[str, Any], header: Mapping[str, Any]) -> list[jwt.PyJWK]:
    """Return the keys with which a token with this header may be signed; raise ValueError if the key set is none.

    `alg`, `use` and `kid` of a key are optional (RFC 7517). If the token names a key, keys without a name follow it.
    """
    documents = key_set.get("keys") if isinstance(key_set, dict) else None
    if not isinstance(documents, list):
        raise ValueError("the provider's key set is none")
    algorithm, key_id = header.get("alg"), header.get("kid")
    if algorithm not in ALGORITHMS:
        raise jwt.InvalidAlgorithmError("the algorithm is not allowed")
    keys: list[jwt.PyJWK] = []
    for document in documents:
        if (
            isinstance(document, dict)
            and document.get("alg") in (None, algorithm)
            and document.get("use") in (None, "sig")
            and (key_id is None or document.get("kid") in (None, key_id))
        ):
            with suppress(jwt.PyJWTError):  # a key of another type or curve
                key = jwt.PyJWK(document, algorithm)
                key.Algorithm.prepare_key(key.key)  # looks at the curve
                keys.append(key)
    return sorted(keys, key=lambda key: key.key_id is None)


def describe_person(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the hub stores of a person. A name or an address that is no text is left out.

    Raises InvalidTokenError if the subject is none that can be stored.
    """
    subject, email, name = (claims.get(claim) for claim in ("sub", "email", "name"))
    if not _is_text(subject) or len(subject) > MAX_SUBJECT:
        raise jwt.InvalidTokenError("the subject is no text of at most 255 characters")
    texts = {"sub": subject, "email": email, "name": name}
    person: dict[str, Any] = {claim: text for claim, text in texts.items() if _is_text(text)}
    return {**person, "email_verified": claims.get("email_verified") in (True, "true")}


def _is_text(value: Any) -> TypeGuard[str]:
    """Return whether the value is text that PostgreSQL stores: without NUL, and without half a surrogate pair."""
    return isinstance(value, str) and value != "" and value.isprintable()


def _decode(token: str, key: jwt.PyJWK, *, client_id: str, issuer: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(
        token,
        key,
        algorithms=ALGORITHMS,
        audience=client_id,
        issuer=issuer,
        leeway=CLOCK_TOLERANCE,
        options={"require": ["iss", "sub", "aud", "exp", "iat"]},
    )
    if claims.get("azp") not in (None, client_id):  # the client that was given the token (OpenID Connect Core, 3.1.3.7)
        raise jwt.InvalidTokenError("the provider gave it to another client")
    return claims
