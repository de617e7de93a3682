"""Queue deliveries. They are written in the transaction of their event, so that neither exists without the other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from alerts.models import Delivery, Event, Target

HELD_BACK = "held back: this hub was restored from a backup"


def queue_deliveries(event: Event, target_ids: Sequence[int], *, now: datetime) -> None:
    """Queue one delivery of the event to each of these targets that still exists."""
    # Lock the targets, so that none is deleted meanwhile. Lock them in the order of their ids, so that two transactions
    # cannot deadlock.
    rows = Target.objects.filter(workspace=event.workspace_id, pk__in=target_ids).order_by("pk")
    targets = list(rows.select_for_update(no_key=True))
    Delivery.objects.bulk_create(
        Delivery(workspace_id=event.workspace_id, target=target, event=event, queued_at=now, next_attempt_at=now)
        for target in targets
    )
    for target in targets:
        wake_target(target.pk, now=now)


def hold_back_deliveries(*, now: datetime) -> None:
    """Turn all waiting deliveries into dead letters, which people may send again."""
    Delivery.objects.filter(state=Delivery.WAITING).update(
        state=Delivery.DEAD, fault=HELD_BACK, next_attempt_at=None, finished_at=now
    )
    Target.objects.update(next_attempt_at=None, lease=None, lease_until=None)


def wake_target(target_id: int, *, now: datetime) -> None:
    """Make a target due now, unless it waits for the next attempt of an earlier delivery."""
    Target.objects.filter(pk=target_id, next_attempt_at=None).update(next_attempt_at=now)
