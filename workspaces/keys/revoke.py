"""Revoke an API key: the next request with it is refused."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from affidavit import is_well_formed_key
from wire.errors import InvalidRequest, NotFound
from workspaces.audit.record import record_audit
from workspaces.keys.lookup import hash_key
from workspaces.models import PREFIX_LENGTH, ApiKey

MIN_PREFIX = 6  # characters: two after `gak_`


@transaction.atomic
def revoke_key(key: ApiKey, *, actor: str, now: datetime) -> bool:
    """Revoke a key from now on. Return False if it was revoked before."""
    if not ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now):
        return False
    facts = {"key": key.prefix, "name": key.name, "scopes": key.scopes}
    record_audit(key.workspace_id, "key revoked", facts, actor=actor, now=now)
    return True


def find_key(text: str) -> ApiKey:
    """Return the key that is named by its whole text or by its first characters, whatever its workspace is.

    Raises NotFound; InvalidRequest for a text of another length, or with a list if several keys begin like this.
    """
    keys = ApiKey.objects.select_related("workspace")
    if is_well_formed_key(text):
        keys = keys.filter(digest=hash_key(text))
    elif MIN_PREFIX <= len(text) <= PREFIX_LENGTH:
        keys = keys.filter(prefix__startswith=text)
    else:
        raise InvalidRequest(
            f"Name the key by {MIN_PREFIX} to {PREFIX_LENGTH} of its first characters, or by all of it."
        )
    matches = list(keys.filter(revoked_at=None)[:20]) or list(keys[:20])
    if not matches:
        raise NotFound("No key begins like this. The page of keys lists all keys of a workspace.")
    if len(matches) > 1:
        names = ", ".join(f"{key.prefix} ({key.name or 'without a name'}, {key.workspace.slug})" for key in matches)
        raise InvalidRequest(f"Several keys begin like this: {names}. Give more characters.")
    return matches[0]
