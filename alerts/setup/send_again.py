"""Send a dead letter again."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from alerts.delivery.queue import wake_target
from alerts.models import Delivery, Target
from workspaces.audit.record import record_audit


@transaction.atomic
def send_again(delivery: Delivery, *, actor: str, now: datetime | None = None) -> bool:
    """Queue a dead letter again, behind the deliveries that wait for its target.

    Return False if it is not a dead letter.
    """
    now = now or timezone.now()
    # Lock the target first, as recording a delivery does: else the recording could note that nothing waits.
    Target.objects.select_for_update(no_key=True).filter(pk=delivery.target_id).first()
    queue_state = {"state": Delivery.WAITING, "queued_at": now, "next_attempt_at": now, "finished_at": None}
    dead = Delivery.objects.filter(workspace=delivery.workspace_id, pk=delivery.pk, state=Delivery.DEAD)
    if not dead.update(**queue_state, attempts=0):
        return False
    wake_target(delivery.target_id, now=now)
    facts = {"target": delivery.target.name, "event": delivery.event.title}
    record_audit(delivery.workspace_id, "alert delivery queued again", facts, actor=actor, now=now)
    return True
