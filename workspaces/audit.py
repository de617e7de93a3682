"""The audit log of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from workspaces.models import AuditEntry


def record_audit(
    workspace_id: str, action: str, facts: Mapping[str, Any] | None = None, *, actor: str, now: datetime
) -> AuditEntry:
    """Record who did what to a workspace, and when. facts: JSON; never a key, a secret or a body value."""
    return AuditEntry.objects.create(workspace_id=workspace_id, action=action, facts=facts or {}, actor=actor, at=now)
