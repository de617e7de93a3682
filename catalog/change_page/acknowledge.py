"""Acknowledge a drift change, and undo that."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from catalog.change_page.decision_audit import record_decision
from catalog.models import Drift


@transaction.atomic
def acknowledge_drift(drift: Drift, *, actor: str, now: datetime) -> None:
    """Record that a person has seen the change. If it is acknowledged already, change nothing."""
    drift.environment.hold()
    rows = _select(drift).filter(acknowledged_at=None)
    if rows.update(acknowledged_at=now, acknowledged_by=actor):
        record_decision(drift, "drift acknowledged", {}, actor=actor, now=now)


@transaction.atomic
def undo_acknowledgement(drift: Drift, *, actor: str, now: datetime) -> None:
    """Show the change as new again. If it is not acknowledged, change nothing."""
    drift.environment.hold()
    rows = _select(drift).filter(acknowledged_at__isnull=False)
    if rows.update(acknowledged_at=None, acknowledged_by=""):
        record_decision(drift, "drift acknowledgement undone", {}, actor=actor, now=now)


def _select(drift: Drift) -> Any:
    return Drift.objects.filter(environment=drift.environment_id, pk=drift.pk)
