"""The secrets that sign and verify a workspace's intents, out of their encryption (contract 3, "Secrets")."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from wire.redelivery.encryption import decrypt
from workspaces.models import SigningSecret, Workspace


def newest_secret(workspace: Workspace) -> str:
    """The one that new intents are signed with."""
    return plain(workspace.signing_secrets.latest("id"))


def secrets_in_force(workspace: Workspace, *, now: datetime) -> Sequence[str]:
    """Those that intents are verified with, the newest first."""
    return [plain(secret) for secret in workspace.signing_secrets.order_by("-id") if secret.verifies_at(now)]


def plain(secret: SigningSecret) -> str:
    return decrypt(bytes(secret.ciphertext)).decode()
