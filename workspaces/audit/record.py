"""Record an entry of the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from wire.request_context import current_client_address
from workspaces.models import AuditEntry


def record_audit(
    workspace_id: str | None, action: str, facts: Mapping[str, Any] | None = None, *, actor: str, now: datetime
) -> AuditEntry:
    """Record who did what to a workspace, or to the hub (None), and when; for a request, also the client's address.

    facts: details as JSON; never a key, a secret or a body value.
    """
    return AuditEntry.objects.create(
        workspace_id=workspace_id or "",
        action=action,
        facts=facts or {},
        actor=actor,
        address=current_client_address.get() or None,
        at=now,
    )
