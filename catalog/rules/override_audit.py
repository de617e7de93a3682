"""Record a manual override of an operation in the audit log."""

from __future__ import annotations

from datetime import datetime

from catalog.models import Operation
from workspaces.audit.record import record_audit


def record_override(row: Operation, action: str, *, actor: str, now: datetime, location: str) -> None:
    """Record a manual override of an operation in the audit log.

    location: the node, "" for the whole operation.
    """
    facts = {"environment": row.environment.name, "operation": str(row)} | ({"place": location} if location else {})
    record_audit(row.environment.workspace_id, action, facts, actor=actor, now=now)
