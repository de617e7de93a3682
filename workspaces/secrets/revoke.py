"""Revoke a signing secret: intents signed with it fail from then on (contract §3)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from wire.errors import InvalidRequest
from workspaces.audit.record import record_audit
from workspaces.models import SigningSecret
from workspaces.secrets.rotate import find_signer

REVOKED = "signing secret revoked"  # the name of this action in the audit log


@transaction.atomic
def revoke_secret(secret: SigningSecret, *, actor: str, now: datetime) -> bool:
    """Revoke a secret: intents signed with it fail from now on. Return False if it was revoked before.

    Raises InvalidRequest for the secret that signs: rotate first.
    """
    secret.workspace.lock()
    secret.refresh_from_db()
    if secret.revoked_at is not None:
        return False
    if secret == find_signer(secret.workspace):
        raise InvalidRequest(
            f"{secret} signs new intents. Rotate first, so that another secret signs; then revoke this one."
        )
    secret.revoked_at = now
    secret.save(update_fields=["revoked_at"])
    record_audit(secret.workspace_id, REVOKED, {"secret": secret.prefix}, actor=actor, now=now)
    return True
