"""Find an API key by its first characters, which pages write into addresses."""

from __future__ import annotations

from workspaces.models import ApiKey, Workspace


def find_by_prefix(workspace: Workspace, prefix: str) -> ApiKey | None:
    """Return the key of this workspace, revoked or not, with exactly this stored prefix; None if there is none."""
    return workspace.api_keys.filter(prefix=prefix).first() if prefix else None
