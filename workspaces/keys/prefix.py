"""Find an API key by its first characters, which pages write into addresses and operators into commands."""

from __future__ import annotations

from affidavit import is_well_formed_key
from wire.errors import InvalidRequest, NotFound
from workspaces.keys.digest import hash_key
from workspaces.models import PREFIX_LENGTH, ApiKey, Workspace

MIN_PREFIX = 6  # characters: two after `gak_`


def find_by_prefix(workspace: Workspace, prefix: str) -> ApiKey | None:
    """Return the key of this workspace, revoked or not, with exactly this stored prefix; None if there is none."""
    return workspace.api_keys.filter(prefix=prefix).first() if prefix else None


def find_named_key(text: str) -> ApiKey:
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
