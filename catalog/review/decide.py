"""Acknowledge a drift change, mute its kind at its place, and undo both; the audit log records each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from catalog.models import Drift, DriftMute
from wire.errors import InvalidRequest
from workspaces.audit.record import record_audit

MUTE_DAYS = (1, 7, 30)


@transaction.atomic
def acknowledge_drift(drift: Drift, *, actor: str, now: datetime) -> None:
    """Record that a person has seen the change. If it is acknowledged already, change nothing."""
    drift.environment.hold()
    rows = _select(drift).filter(acknowledged_at=None)
    if rows.update(acknowledged_at=now, acknowledged_by=actor):
        _record_decision(drift, "drift acknowledged", {}, actor=actor, now=now)


@transaction.atomic
def undo_acknowledgement(drift: Drift, *, actor: str, now: datetime) -> None:
    """Show the change as new again. If it is not acknowledged, change nothing."""
    drift.environment.hold()
    rows = _select(drift).filter(acknowledged_at__isnull=False)
    if rows.update(acknowledged_at=None, acknowledged_by=""):
        _record_decision(drift, "drift acknowledgement undone", {}, actor=actor, now=now)


@transaction.atomic
def mute_drift(drift: Drift, days: int, *, actor: str, now: datetime) -> None:
    """For some days from now, do not show this kind of change at this place as new. Raises InvalidRequest.

    An existing mute is replaced, even if it would end later. Expired mutes of this environment are deleted.
    """
    if days not in MUTE_DAYS:
        raise InvalidRequest(f"Send days={', '.join(map(str, MUTE_DAYS[:-1]))} or {MUTE_DAYS[-1]}.")
    drift.environment.hold()
    until = now + timedelta(days=days)
    DriftMute.objects.filter(environment=drift.environment, until__lte=now).delete()
    mute = DriftMute(
        environment=drift.environment,
        place_digest=drift.place_digest,
        operation_id=drift.operation_id,
        part=drift.part,
        pointer=drift.pointer,
        kind=drift.kind,
        until=until,
        muted_at=now,
        muted_by=actor,
    )
    # One statement: update_or_create fails if another mute is added, and undone, between its statements.
    DriftMute.objects.bulk_create(
        [mute],
        update_conflicts=True,
        unique_fields=["environment", "place_digest"],
        update_fields=["until", "muted_at", "muted_by"],
    )
    _record_decision(drift, "drift muted", {"days": days}, actor=actor, now=now)


@transaction.atomic
def unmute_drift(drift: Drift, *, actor: str, now: datetime) -> None:
    """Show this kind of change at this place as new again. If it is not muted, change nothing."""
    drift.environment.hold()
    mutes = DriftMute.objects.filter(environment=drift.environment, place_digest=drift.place_digest, until__gt=now)
    if mutes.delete()[0]:
        _record_decision(drift, "drift unmuted", {}, actor=actor, now=now)


def _select(drift: Drift) -> Any:
    return Drift.objects.filter(environment=drift.environment_id, pk=drift.pk)


def _record_decision(drift: Drift, action: str, facts: Mapping[str, Any], *, actor: str, now: datetime) -> None:
    location = {
        "environment": drift.environment.name,
        "operation": str(drift.operation),
        "place": f"{drift.part} {drift.pointer}".rstrip(),
        "change": drift.words,
        "changeId": drift.pk,
    }
    record_audit(drift.environment.workspace_id, action, {**location, **facts}, actor=actor, now=now)
