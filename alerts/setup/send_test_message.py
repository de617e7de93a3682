"""Send a test to a target."""

from __future__ import annotations

import uuid
from datetime import datetime

from django.db import transaction

from alerts.delivery.queue import queue_deliveries
from alerts.models import Event, Target
from alerts.rules.event_titles import describe_happening
from workspaces.audit.record import record_audit
from workspaces.models import Environment


@transaction.atomic
def send_test(target: Target, environment: Environment, *, url: str, actor: str, now: datetime) -> Event:
    """Queue a test to this target alone."""
    environment.hold()
    subject = str(uuid.uuid4())
    event = Event.objects.create(
        workspace_id=target.workspace_id,
        environment_id=environment.pk,
        kind=Event.TEST,
        subject=subject,
        key=subject,
        title=describe_happening(Event.TEST, {}, environment.name),
        url=url,
        facts={"environment": environment.name, "target": target.name},
        at=now,
        fired_at=now,
    )
    queue_deliveries(event, [target.pk], now=now)
    record_audit(target.workspace_id, "alert test sent", {"target": target.name}, actor=actor, now=now)
    return event
