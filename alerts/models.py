"""The tables of alerts: targets, alerts, the events that fired, and their deliveries."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from alerts.rules import alert_kinds
from alerts.rules.event_titles import MAX_TITLE
from alerts.rules.thresholds import Thresholds
from workspaces.models import Environment, Workspace

MAX_NAME = 60
MAX_SHOWN_ADDRESS = 500
MAX_FAULT = 300


class Target(models.Model):
    """A receiver of events: some e-mail addresses, a chat or a webhook. It gets the events in order.

    encrypted_address: e-mail addresses separated by commas, or a URL, which may hold a secret.
    shown_address: the part that pages may show.
    encrypted_secret: the secret that signs webhooks (`whsec_…`); after a rotation the previous one signs too, until
        previous_until. After several rotations within a day, encrypted_previous_secret holds several.
    lease, lease_until: the claim of the worker that delivers to it now.
    next_attempt_at: when the first waiting delivery is due; null if none waits.
    """

    EMAIL, SLACK, WEBHOOK = "email", "slack", "webhook"
    KINDS = (EMAIL, SLACK, WEBHOOK)

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="alert_targets")
    kind = models.CharField(max_length=8, choices=[(kind, kind) for kind in KINDS])
    name = models.CharField(max_length=MAX_NAME)
    encrypted_address = models.BinaryField()
    shown_address = models.CharField(max_length=MAX_SHOWN_ADDRESS)
    encrypted_secret = models.BinaryField(null=True)
    encrypted_previous_secret = models.BinaryField(null=True)
    previous_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=150, blank=True)
    lease = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="one_alert_target_per_name")]
        indexes = [
            models.Index(
                fields=["next_attempt_at"], name="targets_with_deliveries", condition=Q(next_attempt_at__isnull=False)
            )
        ]

    def __str__(self) -> str:
        return self.name


class Alert(models.Model):
    """A condition that is watched in one environment, with the targets that are notified.

    minutes, minimum, percent, factor: its thresholds (alerts.rules.thresholds); each kind uses some of them.
    active_from: what happened before this time does not fire the alert.
    origin: the scheme and host of the links in its messages. They are those of the request that saved the alert.
    evaluated_at: when it was last evaluated.
    outage_from, outage_until: the last time in which the hub did not evaluate it, as during an outage of the hub, or,
        for a silent reporter, in which its environment was archived. They are null if there was none. They may also be
        null if it was so long ago that it delays no silence any more.
    """

    KINDS = alert_kinds.KINDS
    DRIFT, NEW_REASON, REJECTIONS, BROKEN_JOINS, SILENT = KINDS

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="alerts")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="alerts")
    kind = models.CharField(max_length=24, choices=[(kind, kind) for kind in KINDS])
    minutes = models.PositiveIntegerField()
    minimum = models.PositiveIntegerField()
    percent = models.FloatField()
    factor = models.FloatField()
    target_ids = ArrayField(models.BigIntegerField())
    origin = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=150, blank=True)
    active_from = models.DateTimeField()
    paused_at = models.DateTimeField(null=True)
    evaluated_at = models.DateTimeField(null=True)
    outage_from = models.DateTimeField(null=True)
    outage_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} in {self.environment}"

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds(self.minutes, self.minimum, self.percent, self.factor)


class Event(models.Model):
    """A happening that fired an alert, or a test of a target. Each is stored once: `key` is unique within an alert.

    key: the environment, the kind and the identity of the happening, because an alert can get another environment or
        kind. For a test, a random id.
    alert_id, environment_id: ids of rows that may be deleted by now. The alert_id of a test is null.
    kind: the `type` of its messages.
    title, url, facts: the content of its messages.
    at: when it happened.
    fired_at: when it was noticed.

    Its primary key in the database is (workspace_id, id).
    """

    TEST = "test"

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    alert_id = models.BigIntegerField(null=True)
    environment_id = models.BigIntegerField(null=True)
    kind = models.CharField(max_length=24)
    subject = models.CharField(max_length=300)
    key = models.CharField(max_length=330)
    title = models.CharField(max_length=MAX_TITLE)
    url = models.CharField(max_length=1000, blank=True)
    facts: Any = models.JSONField(default=dict)
    at = models.DateTimeField()
    fired_at = models.DateTimeField()

    class Meta:
        ordering = ["-fired_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "alert_id", "key"], name="one_event_per_key")]
        indexes = [models.Index(fields=["workspace", "-fired_at"], name="latest_events")]

    def __str__(self) -> str:
        return self.title


class Delivery(models.Model):
    """One event for one target, and the result of its attempts.

    message_id: the id of the message. It is the same in each attempt, so that receivers recognise a repeat.
    queued_at: its place in the order, and the start of the time for which it is retried.
    code: the HTTP status of the last attempt's answer, or the code with which the mail server refused; null otherwise.
    fault: why the last attempt failed, for which recipients it failed although it counts as delivered, or why the
        delivery was held back; "" otherwise.

    Its primary key in the database is (workspace_id, id).
    """

    WAITING, DELIVERED, DEAD = "waiting", "delivered", "dead"
    STATES = (WAITING, DELIVERED, DEAD)

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.ForeignKey(
        Event, on_delete=models.CASCADE, related_name="deliveries", db_index=False, db_constraint=False
    )
    message_id = models.UUIDField(default=uuid.uuid4)
    state = models.CharField(max_length=10, default=WAITING)
    queued_at = models.DateTimeField()
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    last_attempt_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    code = models.PositiveSmallIntegerField(null=True)
    fault = models.CharField(max_length=MAX_FAULT, blank=True)

    class Meta:
        ordering = ["-queued_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "event", "target"], name="one_delivery_per_target")]
        indexes = [
            models.Index(
                fields=["workspace", "target", "queued_at"], name="deliveries_that_wait", condition=Q(state="waiting")
            ),
            models.Index(fields=["workspace", "-queued_at", "-id"], name="latest_deliveries"),
            models.Index(fields=["state"], name="dead_deliveries", condition=Q(state="dead")),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.message_id}"

    @property
    def delay(self) -> timedelta | None:
        """Return the time from queueing to arrival; None if it has not arrived."""
        is_delivered = self.state == self.DELIVERED
        return self.finished_at - self.queued_at if is_delivered and self.finished_at else None
