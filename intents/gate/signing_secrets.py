"""The decrypted secrets that sign and verify a workspace's intents (contract 3, "Secrets")."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from wire.redelivery.encryption import decrypt
from workspaces.models import SigningSecret, Workspace


def load_newest_secret(workspace: Workspace) -> str:
    """Return the secret that signs new intents."""
    return _decrypt_secret(workspace.signing_secrets.latest("id"))


def load_valid_secrets(workspace: Workspace, *, now: datetime) -> Sequence[str]:
    """Return the secrets that verify intents, the newest first."""
    return [_decrypt_secret(secret) for secret in workspace.signing_secrets.order_by("-id") if secret.verifies_at(now)]


def _decrypt_secret(secret: SigningSecret) -> str:
    return decrypt(bytes(secret.ciphertext)).decode()
