"""Issue signing secrets: each is shown once, and kept encrypted (contract §3)."""

from __future__ import annotations

import secrets
from datetime import datetime

from wire.at_rest.encryption import encrypt
from workspaces.models import SigningSecret, Workspace
from workspaces.secrets.prefix import SECRET_PREFIX_LENGTH


def create_signing_secret(workspace: Workspace, *, now: datetime, actor: str = "", signs: bool = True) -> str:
    """Return a new signing secret: `gas_` and 256 bits in base64url. It verifies intents; if `signs`, it signs them."""
    secret = "gas_" + secrets.token_urlsafe(32)
    SigningSecret.objects.create(
        workspace=workspace,
        ciphertext=encrypt(secret.encode()),
        prefix=secret[:SECRET_PREFIX_LENGTH],
        created_at=now,
        created_by=actor,
        signs_from=now if signs else None,
    )
    return secret
