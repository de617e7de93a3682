"""Issue API keys and signing secrets: each is shown once, and kept as a digest or encrypted (contracts 1 and 3)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime

from affidavit import make_key
from wire.redelivery.encryption import encrypt
from workspaces.models import PREFIX_LENGTH, ApiKey, SigningSecret, Workspace


def issue_key(workspace: Workspace, kind: str, scopes: Sequence[str], *, now: datetime) -> str:
    """Return a new key of ApiKey.SECRET or ApiKey.PUBLISHABLE; only its digest is stored (contract 1)."""
    key = make_key("gak_" if kind == ApiKey.SECRET else "pk_")
    ApiKey.objects.create(
        workspace=workspace, kind=kind, scopes=list(scopes), digest=hash_key(key), prefix=key[:PREFIX_LENGTH],
        created_at=now,
    )  # fmt: skip
    return key


def issue_signing_secret(workspace: Workspace, *, now: datetime) -> str:
    """Return a new signing secret: `gas_` and 256 bits in base64url; stored encrypted (contract 3)."""
    secret = "gas_" + secrets.token_urlsafe(32)
    SigningSecret.objects.create(
        workspace=workspace, ciphertext=encrypt(secret.encode()), prefix=secret[:8], created_at=now
    )
    return secret


def hash_key(key: str) -> bytes:
    """Return the SHA-256 of a key: it has 155 random bits, so that a slow hash would protect nothing."""
    return hashlib.sha256(key.encode()).digest()
