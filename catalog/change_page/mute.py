"""Mute a kind of drift change at its place for some days, and undo that."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from catalog.change_page.decision_audit import record_decision
from catalog.models import Drift, DriftMute
from wire.errors import InvalidRequest

MUTE_DAYS = (1, 7, 30)
DEFAULT_MUTE_DAYS = 7  # of the form
KEPT_AFTER_END = timedelta(days=1)  # as long as alerts look back


@transaction.atomic
def mute_drift(drift: Drift, days: int, *, actor: str, now: datetime) -> None:
    """For some days from now, do not show this kind of change at this place as new. Raises InvalidRequest.

    An existing mute is replaced, even if it would end later. Expired mutes of this environment are deleted after a day,
    because alerts ask for them until then.
    """
    if days not in MUTE_DAYS:
        raise InvalidRequest(f"Send days={', '.join(map(str, MUTE_DAYS[:-1]))} or {MUTE_DAYS[-1]}.")
    drift.environment.hold()
    until = now + timedelta(days=days)
    DriftMute.objects.filter(environment=drift.environment, until__lte=now - KEPT_AFTER_END).delete()
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
    record_decision(drift, "drift muted", {"days": days}, actor=actor, now=now)


@transaction.atomic
def unmute_drift(drift: Drift, *, actor: str, now: datetime) -> None:
    """Show this kind of change at this place as new again. If it is not muted, change nothing."""
    drift.environment.hold()
    mutes = DriftMute.objects.filter(environment=drift.environment, place_digest=drift.place_digest, until__gt=now)
    if mutes.delete()[0]:
        record_decision(drift, "drift unmuted", {}, actor=actor, now=now)


def find_mute(drift: Drift, *, now: datetime) -> DriftMute | None:
    """Return the mute in force of this kind of change at this place."""
    mutes = DriftMute.objects.filter(environment=drift.environment_id, place_digest=drift.place_digest)
    return mutes.filter(until__gt=now).first()
