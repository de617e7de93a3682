"""Evaluate alerts: each new happening becomes an event with its deliveries, exactly once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction
from django.db.models import F, Q, QuerySet

from alerts.delivery.prune import find_kept_since
from alerts.delivery.queue import queue_deliveries
from alerts.evaluation.event_url import build_event_url
from alerts.evaluation.find_happenings import GRACE, LOOKBACK, find_happenings, find_last_quarter
from alerts.models import Alert, Event
from alerts.rules.event_titles import describe_happening
from alerts.rules.happenings import Happening
from alerts.rules.hub_outages import SHORTEST_OUTAGE, HubOutage, leave_out_outage
from alerts.rules.known_happenings import leave_out_known
from alerts.rules.new_reasons import NEW_AGAIN_AFTER
from wire.postgresql.database_outage import is_outage
from wire.task_turns import UNLIMITED, Turn

log = logging.getLogger("affidavit.alerts")
EVERY = timedelta(seconds=50)  # less than the minute between two tasks, because a task may come a little early
MAX_EVENTS = 500  # that one evaluation stores
BY_QUARTER = {Alert.REJECTIONS, Alert.BROKEN_JOINS}  # judged once after each quarter hour


def evaluate_all(*, now: datetime, turn: Turn = UNLIMITED) -> int:
    """Evaluate the alerts that are due, the one that waited longest first. Return how many events fired."""
    event_count = 0
    failed_ids: set[int] = set()

    def evaluate_next() -> int:
        nonlocal event_count
        alert_id = _list_due(now).exclude(pk__in=failed_ids).values_list("pk", flat=True).first()
        event_count += _try_evaluate(alert_id, failed_ids, now=now) if alert_id else 0
        return int(alert_id is not None)

    turn.repeat(evaluate_next)
    return event_count


def _try_evaluate(alert_id: int, failed_ids: set[int], *, now: datetime) -> int:
    """Evaluate one alert. Log any error except an outage, so that the other alerts still fire.

    Add the id of a failed alert to `failed_ids`. It is evaluated again a minute later, those of BY_QUARTER too.
    """
    try:
        return evaluate(alert_id, now=now)
    except Exception as error:
        if is_outage(error):
            raise
        log.exception("alert %s could not be evaluated", alert_id)
        failed_ids.add(alert_id)
        failed_alert = Alert.objects.filter(pk=alert_id)
        failed_alert.exclude(kind__in=BY_QUARTER).update(evaluated_at=now)
        before_this_quarter = find_last_quarter(now) + GRACE - timedelta.resolution
        failed_alert.filter(kind__in=BY_QUARTER).update(evaluated_at=before_this_quarter)
        return 0


@transaction.atomic
def evaluate(alert_id: int, *, now: datetime) -> int:
    """Store the happenings that fire this alert and are not stored yet, at most MAX_EVENTS. Return how many."""
    row = Alert.objects.select_related("environment").filter(pk=alert_id).first()
    # This lock comes first, so that a deletion of the workspace waits.
    if row is None or not row.environment.try_hold():
        return 0
    alert = Alert.objects.select_for_update(of=("self",), no_key=True).filter(pk=alert_id, paused_at=None).first()
    if alert is None or not _is_due(alert, now):
        return 0
    alert.environment = row.environment
    alert.active_from = min(alert.active_from, now)  # later if the clock was ahead when somebody saved the alert
    happenings: Sequence[Happening] = []
    outage = _find_outage(alert, now)
    since = _find_start(alert, outage, now)
    if _needs_look(alert, now):
        happenings = find_happenings(alert.environment, alert.kind, alert.thresholds, since=since, until=now)
        if outage and alert.kind == Alert.SILENT:
            happenings = list(leave_out_outage(happenings, outage, alert.thresholds, until=now))
    # The earliest first: those that are left out fire at the next evaluation, a minute later.
    new_happenings = (
        list(islice(leave_out_known(happenings, _list_events(alert, since)), MAX_EVENTS)) if happenings else []
    )
    for happening in new_happenings:
        queue_deliveries(_store_event(alert, happening, now=now), alert.target_ids, now=now)
    start, end = (outage.start, outage.end) if outage else (None, None)
    Alert.objects.filter(pk=alert.pk).update(
        evaluated_at=now, active_from=alert.active_from, outage_from=start, outage_until=end
    )
    return len(new_happenings)


def _list_due(now: datetime) -> QuerySet[Alert]:
    # An evaluation in the future was made before the clock was set back. It delays no other for longer than EVERY.
    just_evaluated = Q(evaluated_at__gt=now - EVERY, evaluated_at__lt=now + EVERY)
    due = Alert.objects.filter(paused_at=None, workspace__removed_at=None).exclude(just_evaluated)
    return due.order_by(F("evaluated_at").asc(nulls_first=True), "pk")


def _is_due(alert: Alert, now: datetime) -> bool:
    return alert.evaluated_at is None or abs(now - alert.evaluated_at) >= EVERY


def _needs_look(alert: Alert, now: datetime) -> bool:
    """Return whether there can be new happenings: for the kinds in BY_QUARTER, only once after each quarter hour."""
    if alert.evaluated_at is None or alert.kind not in BY_QUARTER:
        return True
    return find_last_quarter(alert.evaluated_at) != find_last_quarter(now)


def _find_outage(alert: Alert, now: datetime) -> HubOutage | None:
    """Return the last outage that can still delay a silence; None if there is none.

    If an outage ends now, and an earlier one can still delay a silence, the two count as one, from the earlier start.
    An outage does not end later than now: it began when the clock was set ahead, and ends when the clock is set back.
    For silences, the time in which the environment is archived is an outage, too, because it refuses all reports.
    """
    outage = None
    if alert.outage_from and alert.outage_until:
        outage = HubOutage(min(alert.outage_from, now), min(alert.outage_until, now))
    last_look = min(alert.evaluated_at or now, now)
    if outage and outage.end + alert.thresholds.length + LOOKBACK < last_look:
        outage = None
    is_refusing = alert.kind == Alert.SILENT and alert.environment.archived_at is not None
    if is_refusing or now - last_look > SHORTEST_OUTAGE:
        return HubOutage(outage.start if outage else last_look, now)
    return outage


def _find_start(alert: Alert, outage: HubOutage | None, now: datetime) -> datetime:
    """Return from when on happenings can be new: some time before the last evaluation, however long ago that was.

    After an outage it is some time before its start, but not before all events are kept: of a happening that is older,
    nobody knows whether it fired. With an outage every night, the start would be ever longer ago.
    """
    start = min(alert.evaluated_at or now, now) - LOOKBACK
    if outage:
        start = min(start, max(outage.start - LOOKBACK, find_kept_since(alert.workspace_id, now=now)))
    return max(alert.active_from, start)


def _list_events(alert: Alert, since: datetime) -> list[tuple[str, datetime]]:
    """Return the events that can be the same as a happening from `since` on."""
    # An alert may have watched something else before.
    events = Event.objects.filter(
        workspace=alert.workspace_id,
        alert_id=alert.pk,
        environment_id=alert.environment_id,
        kind=alert.kind,
        at__gte=since - NEW_AGAIN_AFTER,
    )
    return list(events.values_list("subject", "at"))


def _store_event(alert: Alert, happening: Happening, *, now: datetime) -> Event:
    return Event.objects.create(
        workspace_id=alert.workspace_id,
        alert_id=alert.pk,
        environment_id=alert.environment_id,
        kind=alert.kind,
        subject=happening.subject,
        key=f"{alert.environment_id}:{alert.kind}:{happening.key}",
        title=describe_happening(alert.kind, happening.facts, alert.environment.name),
        url=build_event_url(alert, happening),
        facts={"environment": alert.environment.name, **happening.facts},
        at=happening.at,
        fired_at=now,
    )
