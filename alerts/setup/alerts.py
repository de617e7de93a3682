"""Create, change, pause, resume and delete alerts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from alerts.delivery.queue import hold_back_deliveries
from alerts.models import Alert, Target
from alerts.rules.alert_descriptions import describe_alert
from alerts.rules.thresholds import Thresholds
from wire.errors import InvalidRequest
from workspaces.audit.record import record_audit
from workspaces.forms.late_forms import require_unchanged
from workspaces.models import Environment, Workspace

MAX_ALERTS = 100  # of a workspace


@dataclass(frozen=True)
class AlertSettings:
    """The settings of an alert that people choose.

    origin: the scheme and the host under which they open the hub's pages.
    """

    environment: Environment
    kind: str
    thresholds: Thresholds
    target_ids: Sequence[int]
    origin: str = ""

    @property
    def columns(self) -> Mapping[str, Any]:
        thresholds = self.thresholds
        return {
            "environment": self.environment,
            "kind": self.kind,
            "minutes": thresholds.minutes,
            "minimum": thresholds.minimum,
            "percent": thresholds.percent,
            "factor": thresholds.factor,
            "target_ids": sorted(self.target_ids),
            "origin": self.origin,
        }


@transaction.atomic
def create_alert(workspace: Workspace, settings: AlertSettings, *, actor: str, now: datetime) -> Alert:
    """Create an alert; only events from now on make it fire. Raises InvalidRequest."""
    settings.environment.hold()
    workspace.lock()
    if workspace.alerts.count() >= MAX_ALERTS:
        raise InvalidRequest(f"A workspace has at most {MAX_ALERTS} alerts. Delete one first.")
    _check_targets(workspace, settings.target_ids)
    columns = {**settings.columns, "created_at": now, "created_by": actor, "active_from": now}
    alert = Alert.objects.create(workspace=workspace, **columns)
    record_audit(workspace.pk, "alert created", list_values(alert), actor=actor, now=now)
    return alert


@transaction.atomic
def change_alert(alert: Alert, settings: AlertSettings, *, opened: str = "", actor: str, now: datetime) -> None:
    """Set what an alert watches and whom it notifies. Raises InvalidRequest.

    If its environment, kind or thresholds change, only later events fire it.

    opened: the fingerprint of the values that the form was opened with.
    """
    settings.environment.hold()
    alert = _lock_alert(alert)
    before = list_values(alert)
    condition_before = (alert.environment_id, alert.kind, alert.thresholds)
    for name, value in settings.columns.items():
        setattr(alert, name, value)
    after = list_values(alert)
    require_unchanged(opened, before, after)
    _check_targets(alert.workspace, settings.target_ids)
    if (alert.environment_id, alert.kind, alert.thresholds) != condition_before:
        alert.active_from, alert.evaluated_at = now, None
    alert.save()
    if after != before:
        facts = {"before": before, "after": after}
        record_audit(alert.workspace_id, "alert changed", facts, actor=actor, now=now)


@transaction.atomic
def pause_alert(alert: Alert, *, actor: str, now: datetime) -> None:
    """Stop an alert from firing until it is resumed; a second time changes nothing."""
    if Alert.objects.filter(pk=alert.pk, paused_at=None).update(paused_at=now):
        record_audit(alert.workspace_id, "alert paused", list_values(alert), actor=actor, now=now)


@transaction.atomic
def pause_every_alert(*, actor: str, now: datetime) -> int:
    """Pause the alerts of all workspaces, and hold back all waiting deliveries. Return how many alerts were paused.

    A restored copy of a hub calls this, because the original still sends these alerts until an operator decides
    otherwise.
    """
    alerts = list(Alert.objects.filter(paused_at=None).select_related("workspace", "environment").order_by("pk"))
    for alert in alerts:
        pause_alert(alert, actor=actor, now=now)
    hold_back_deliveries(now=now)
    return len(alerts)


@transaction.atomic
def resume_alert(alert: Alert, *, actor: str, now: datetime) -> None:
    """Let an alert fire again for events from now on; a second time changes nothing."""
    if Alert.objects.filter(pk=alert.pk).exclude(paused_at=None).update(paused_at=None, active_from=now):
        record_audit(alert.workspace_id, "alert resumed", list_values(alert), actor=actor, now=now)


@transaction.atomic
def delete_alert(alert: Alert, *, actor: str, now: datetime) -> None:
    """Delete an alert. Its deliveries stay in the log."""
    row_count, _ = Alert.objects.filter(pk=alert.pk).delete()
    if row_count:
        record_audit(alert.workspace_id, "alert deleted", list_values(alert), actor=actor, now=now)


def _lock_alert(alert: Alert) -> Alert:
    alerts = Alert.objects.select_for_update(of=("self",), no_key=True).select_related("workspace", "environment")
    row = alerts.filter(pk=alert.pk).first()
    if row is None:
        raise InvalidRequest("This alert was deleted in the meantime.")
    return row


def _check_targets(workspace: Workspace, target_ids: Sequence[int]) -> None:
    if not target_ids:
        raise InvalidRequest("Choose at least one target.")
    # Lock the targets, so that none is deleted before the alert is stored.
    targets = (
        Target.objects.filter(workspace=workspace, pk__in=target_ids).order_by("pk").select_for_update(no_key=True)
    )
    if len(targets) != len(set(target_ids)):
        raise InvalidRequest("One of the targets was deleted in the meantime. Choose again.")


def list_values(alert: Alert) -> dict[str, Any]:
    """Return in words what the form of an alert changes."""
    names = Target.objects.filter(workspace=alert.workspace_id, pk__in=alert.target_ids).values_list("name", flat=True)
    return {
        "alert": describe_alert(alert.kind, alert.thresholds),
        "environment": alert.environment.name,
        "targets": ", ".join(names),
    }
