"""What the pages of every workspace read."""

from __future__ import annotations

from workspaces.models import ApiKey, Workspace


def newest_secret_key(workspace: Workspace) -> ApiKey | None:
    """The secret key made last of those that still work."""
    return workspace.api_keys.filter(kind=ApiKey.SECRET, revoked_at=None).order_by("-id").first()
