"""Rotate the secret that signs the webhooks of a target."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from cryptography.fernet import InvalidToken
from django.db import transaction

from alerts.delivery.send import list_secrets
from alerts.delivery.signature import SEPARATOR, new_secret
from alerts.models import Target
from alerts.setup.targets import lock_target
from wire.at_rest.encryption import encrypt
from wire.errors import InvalidRequest
from workspaces.audit.record import record_audit

PREVIOUS_SIGNS_FOR = timedelta(hours=24)  # after a rotation
MAX_PREVIOUS_SECRETS = 3  # that sign at the same time, after several rotations within a day


@transaction.atomic
def rotate_webhook_secret(target: Target, *, actor: str, now: datetime) -> str:
    """Return a new secret of a webhook, shown once. For 24 hours, messages are signed with the previous ones too."""
    target = lock_target(target)
    if target.kind != Target.WEBHOOK:
        raise InvalidRequest("Only webhooks are signed.")
    secret = new_secret()
    facts = {"target": target.name}
    # A second rotation within a day must not end the time of the secret that receivers still have.
    previous_secrets = _list_readable_secrets(target, now=now)[:MAX_PREVIOUS_SECRETS]
    target.encrypted_previous_secret = target.previous_until = None
    if previous_secrets:
        target.encrypted_previous_secret = encrypt(SEPARATOR.join(previous_secrets).encode())
        target.previous_until = now + PREVIOUS_SIGNS_FOR
        facts["previousSignsUntil"] = target.previous_until.isoformat()
    target.encrypted_secret = encrypt(secret.encode())
    target.save(update_fields=["encrypted_secret", "encrypted_previous_secret", "previous_until"])
    record_audit(target.workspace_id, "webhook secret rotated", facts, actor=actor, now=now)
    return secret


def _list_readable_secrets(target: Target, *, now: datetime) -> Sequence[str]:
    """Return the secrets that sign; none if no key of the settings decrypts them, because SECRET_KEY was lost."""
    try:
        return list_secrets(target, now=now)
    except InvalidToken:
        return []
