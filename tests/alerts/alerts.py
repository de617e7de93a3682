"""Create alerts and targets with the functions that the pages use, queue tests, and deliver what is due."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from alerts.delivery.deliver import claim_target, deliver
from alerts.models import Alert, Delivery, Target
from alerts.rules.thresholds import Thresholds
from alerts.setup.alerts import AlertSettings, create_alert
from alerts.setup.send_test_message import send_test
from alerts.setup.targets import create_target
from tests.alerts.receiver import Receiver
from tests.catalog.reports import environment_of
from workspaces.create import NewWorkspace

ORIGIN = "https://hub.example"


def make_target(created: NewWorkspace, url: str, kind: str = Target.WEBHOOK, name: str = "ops") -> tuple[Target, str]:
    """Return a new target and its secret."""
    secret = create_target(created.workspace, kind, name, url, actor="ada", now=timezone.now())
    return created.workspace.alert_targets.get(name=name), secret


def make_alert(
    created: NewWorkspace,
    *targets: Target,
    kind: str = Alert.DRIFT,
    now: datetime | None = None,
    environment: str = "production",
    **thresholds: Any,
) -> Alert:
    """Create an alert that is one day old."""
    settings = AlertSettings(
        environment_of(created, environment), kind, Thresholds(**thresholds), [target.pk for target in targets], ORIGIN
    )
    now = now or timezone.now()
    return create_alert(created.workspace, settings, actor="ada", now=now - timedelta(days=1))


def deliver_due(*, now: datetime) -> int:
    """Deliver, in this thread, all that is due now. Return how many attempts were made."""
    attempts = 0
    while claim := claim_target(now=now):
        deliver(claim, now=now)
        attempts += 1
    return attempts


def queue_tests(created: NewWorkspace, target: Target, count: int = 1, *, now: datetime) -> list[Delivery]:
    """Queue tests of a target, and return all of its deliveries in their order."""
    production = environment_of(created)
    for number in range(count):
        send_test(target, production, url="", actor="ada", now=now + timedelta(microseconds=number))
    return list(Delivery.objects.filter(target=target).order_by("queued_at"))


def read_ids(receiver: Receiver) -> list[str]:
    """Return the ids of the messages that were received."""
    return [headers["webhook-id"] for headers, _ in receiver.requests]
