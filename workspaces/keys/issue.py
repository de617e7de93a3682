"""Issue API keys: each is shown once, and kept as a digest (contract §1)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

from affidavit import make_key
from workspaces.models import PREFIX_LENGTH, ApiKey, Workspace


def issue_key(
    workspace: Workspace,
    kind: str,
    scopes: Sequence[str],
    *,
    now: datetime,
    name: str = "",
    environment_names: Sequence[str] = (),
    expires_at: datetime | None = None,
    actor: str = "",
) -> str:
    """Return a new key of the kind ApiKey.SECRET or ApiKey.PUBLISHABLE; only its digest is stored (contract §1).

    environment_names: the environments that it may use, all if empty.
    """
    key = make_key("gak_" if kind == ApiKey.SECRET else "pk_")
    ApiKey.objects.create(
        workspace=workspace,
        name=name,
        kind=kind,
        scopes=list(scopes),
        environment_names=list(environment_names),
        digest=hash_key(key),
        prefix=key[:PREFIX_LENGTH],
        created_at=now,
        created_by=actor,
        expires_at=expires_at,
    )
    return key


def hash_key(key: str) -> bytes:
    """Return the SHA-256 of a key: it has 154 random bits, so a slow hash would not protect it better."""
    return hashlib.sha256(key.encode()).digest()
