"""The tables of the pages of alerts, as JSON and CSV. They show only scheme, host and port of a webhook's address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from alerts.models import Delivery
from alerts.pages.queries import list_alert_rows, list_target_rows
from wire.table_exports import Table
from workspaces.models import Workspace

ALERT_COLUMNS = (*("alertId", "type", "environment", "when", "targets", "fired", "createdAt", "createdBy", "pausedAt"),)
TARGET_COLUMNS = ("targetId", "name", "kind", "address", "waiting", "deadLetters", "createdAt", "createdBy")
DELIVERY_COLUMNS = (
    *("messageId", "type", "title", "target", "state", "queuedAt", "attempts", "lastAttemptAt", "nextAttemptAt"),
    *("finishedAt", "code", "fault"),
)


def list_alert_tables(workspace: Workspace) -> Sequence[Table]:
    return [
        Table("alerts", ALERT_COLUMNS, lambda: _export_alerts(workspace)),
        Table("targets", TARGET_COLUMNS, lambda: _export_targets(workspace)),
    ]


def list_delivery_tables(deliveries: QuerySet[Delivery]) -> Sequence[Table]:
    return [Table("deliveries", DELIVERY_COLUMNS, lambda: _export_deliveries(deliveries))]


def _export_alerts(workspace: Workspace) -> Iterator[Sequence[Any]]:
    for row in list_alert_rows(workspace, now=timezone.now()):
        alert, names = row.alert, ", ".join(target.name for target in row.targets)
        yield (
            *(alert.pk, alert.kind, alert.environment.name, row.words, names, row.event_count),
            *(alert.created_at, alert.created_by or None, alert.paused_at),
        )


def _export_targets(workspace: Workspace) -> Iterator[Sequence[Any]]:
    for row in list_target_rows(workspace):
        target = row.target
        yield (
            *(target.pk, target.name, target.kind, target.shown_address, row.waiting, row.dead),
            *(target.created_at, target.created_by or None),
        )


def _export_deliveries(deliveries: QuerySet[Delivery]) -> Iterator[Sequence[Any]]:
    for delivery in deliveries.iterator(chunk_size=1000):
        yield (
            *(str(delivery.message_id), delivery.event.kind, delivery.event.title, delivery.target.name),
            *(delivery.state, delivery.queued_at, delivery.attempts, delivery.last_attempt_at),
            delivery.next_attempt_at if delivery.attempts else None,  # the first attempt comes in its turn
            *(delivery.finished_at, delivery.code, delivery.fault or None),
        )
