"""Find signing secrets that SECRET_KEY cannot decrypt, because it was replaced without SECRET_KEY_FALLBACKS."""

from __future__ import annotations

import logging
from datetime import datetime

from cryptography.fernet import InvalidToken

from wire.at_rest.encryption import decrypt
from wire.format_numbers import count_noun
from workspaces.models import SigningSecret

CURE = "Set the SECRET_KEY that encrypted them, or add it to SECRET_KEY_FALLBACKS. If it is lost, rotate them."
log = logging.getLogger("affidavit.settings")


def describe_unreadable_secrets(*, now: datetime) -> str:
    """Say how many of the secrets that still verify no key of the settings decrypts; "" if all can be decrypted."""
    rows = SigningSecret.objects.filter(revoked_at=None).select_related("workspace").order_by("id")
    secrets = [secret for secret in rows if secret.verifies_at(now)]
    unreadable = [secret for secret in secrets if not _is_decryptable(secret)]
    if not unreadable:
        return ""
    total = count_noun(len(secrets), "signing secret")
    example = f"{unreadable[0]} of {unreadable[0].workspace.slug}"
    return f"{len(unreadable)} of {total} cannot be decrypted, such as {example}."


def warn_of_unreadable_secrets(*, now: datetime) -> None:
    """Log a line if there are any, at a start: no call could be verified or minted."""
    if detail := describe_unreadable_secrets(now=now):
        log.error("%s %s", detail, CURE)


def _is_decryptable(secret: SigningSecret) -> bool:
    try:
        decrypt(bytes(secret.ciphertext))
    except InvalidToken:
        return False
    return True
