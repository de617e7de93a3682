"""The queries of the pages of alerts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, QuerySet

from alerts.evaluation.preview import PREVIEW_LENGTH
from alerts.models import Alert, Delivery, Event, Target
from alerts.rules.alert_descriptions import describe_alert
from workspaces.models import Workspace


@dataclass(frozen=True)
class AlertRow:
    """An alert on the page.

    event_count: how often it fired in the last 30 days.
    last: its latest delivery.
    """

    alert: Alert
    words: str
    targets: Sequence[Target]
    event_count: int
    last: Delivery | None


@dataclass(frozen=True)
class TargetRow:
    """A target on the page.

    last: the delivery that was attempted last.
    counts: the numbers of its deliveries by state.
    alerts: how many alerts notify it.
    """

    target: Target
    last: Delivery | None
    counts: Mapping[str, int] = field(default_factory=dict)
    alerts: int = 0

    @property
    def waiting(self) -> int:
        return self.counts.get(Delivery.WAITING, 0)

    @property
    def dead(self) -> int:
        return self.counts.get(Delivery.DEAD, 0)

    @property
    def is_failing(self) -> bool:
        """Return whether the latest attempt failed."""
        return self.last is not None and bool(self.last.fault)


def list_alert_rows(workspace: Workspace, *, now: datetime) -> Sequence[AlertRow]:
    alerts = list(workspace.alerts.select_related("environment").order_by("id"))
    targets = {target.pk: target for target in workspace.alert_targets.all()}
    events = Event.objects.filter(workspace=workspace, fired_at__gte=now - PREVIEW_LENGTH)
    event_counts = dict(events.exclude(alert_id=None).values_list("alert_id").annotate(Count("pk")).order_by())
    return [
        AlertRow(
            alert,
            describe_alert(alert.kind, alert.thresholds),
            [targets[target_id] for target_id in alert.target_ids if target_id in targets],
            event_counts.get(alert.pk, 0),
            list_deliveries(workspace).filter(event__alert_id=alert.pk).first(),
        )
        for alert in alerts
    ]


def list_target_rows(workspace: Workspace) -> Sequence[TargetRow]:
    counts: dict[int, dict[str, int]] = {}
    deliveries = Delivery.objects.filter(workspace=workspace).values_list("target_id", "state")
    for target_id, state, count in deliveries.annotate(Count("pk")).order_by():
        counts.setdefault(target_id, {})[state] = count
    uses = Counter(pk for target_ids in workspace.alerts.values_list("target_ids", flat=True) for pk in target_ids)
    return [
        TargetRow(
            target,
            _find_latest_attempt(workspace, target),
            counts.get(target.pk, {}),
            uses[target.pk],
        )
        for target in workspace.alert_targets.order_by("name", "id")
    ]


def list_deliveries(workspace: Workspace, *, state: str = "", target: int | None = None) -> QuerySet[Delivery]:
    """Return the deliveries of a workspace, the latest first, with their event and target."""
    deliveries = Delivery.objects.filter(workspace=workspace, event__workspace=workspace)
    if state:
        deliveries = deliveries.filter(state=state)
    if target is not None:
        deliveries = deliveries.filter(target=target)
    return deliveries.select_related("event", "target").order_by("-queued_at", "-id")


def _find_latest_attempt(workspace: Workspace, target: Target) -> Delivery | None:
    attempted_deliveries = Delivery.objects.filter(workspace=workspace, target=target).exclude(last_attempt_at=None)
    return attempted_deliveries.order_by("-last_attempt_at").first()
