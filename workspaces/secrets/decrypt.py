"""The decrypted secrets that sign and verify a workspace's intents (contract §3, "Secrets")."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cryptography.fernet import InvalidToken

from wire.at_rest.encryption import decrypt
from wire.errors import InvalidRequest
from workspaces.models import SigningSecret, Workspace
from workspaces.secrets.rotate import find_signer


def load_newest_secret(workspace: Workspace) -> str:
    """Return the secret that signs new intents: never one that is prepared or revoked. Raises InvalidRequest."""
    secret = find_signer(workspace)
    if secret is None:  # should not happen: every change leaves the workspace a secret that signs
        raise InvalidRequest("No signing secret of this workspace signs. Rotate on the page of secrets to make one.")
    return _decrypt_secret(secret)


def load_valid_secrets(workspace: Workspace, *, now: datetime) -> Sequence[str]:
    """Return the secrets that verify intents, the newest first: also a prepared one, never a revoked one."""
    secrets = workspace.signing_secrets.order_by("-id")
    return _decrypt_readable([secret for secret in secrets if secret.verifies_at(now)])


def load_secrets_of(workspace: Workspace, moment: datetime) -> Sequence[str]:
    """Return the secrets that verified intents at an earlier moment, the newest first: also those revoked since."""
    secrets = workspace.signing_secrets.order_by("-id")
    return _decrypt_readable([secret for secret in secrets if secret.verified_at(moment)])


def _decrypt_readable(secrets: Sequence[SigningSecret]) -> Sequence[str]:
    """Decrypt the secrets. Leave out those that cannot be decrypted; raise InvalidToken if that is all of them.

    If SECRET_KEY was lost and the signing secret then rotated, the previous secret cannot be decrypted, but is valid
    for another day. It must not stop verification with the new secret.
    """
    texts, failure = [], None
    for secret in secrets:
        try:
            texts.append(_decrypt_secret(secret))
        except InvalidToken as error:
            failure = error
    if failure and not texts:
        raise failure
    return texts


def _decrypt_secret(secret: SigningSecret) -> str:
    return decrypt(bytes(secret.ciphertext)).decode()
