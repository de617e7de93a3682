"""Revoke an API key: the next request with it is refused."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from workspaces.audit.record import record_audit
from workspaces.models import ApiKey


@transaction.atomic
def revoke_key(key: ApiKey, *, actor: str, now: datetime) -> bool:
    """Revoke a key from now on. Return False if it was revoked before."""
    if not ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now):
        return False
    facts = {"key": key.prefix, "name": key.name, "scopes": key.scopes}
    record_audit(key.workspace_id, "key revoked", facts, actor=actor, now=now)
    return True
