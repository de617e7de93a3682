"""Record in the audit log what people decided about a drift change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from catalog.models import Drift
from workspaces.audit.record import record_audit


def record_decision(drift: Drift, action: str, facts: Mapping[str, Any], *, actor: str, now: datetime) -> None:
    location = {
        "environment": drift.environment.name,
        "operation": str(drift.operation),
        "place": f"{drift.part} {drift.pointer}".rstrip(),
        "change": drift.words,
        "changeId": drift.pk,
    }
    record_audit(drift.environment.workspace_id, action, {**location, **facts}, actor=actor, now=now)
