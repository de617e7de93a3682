"""Delete events that a workspace no longer keeps, with their deliveries. An event with a waiting delivery is kept."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import QuerySet

from alerts.models import Delivery, Event
from workspaces.models import RetentionPolicy, Workspace

KEPT_DAYS = 90  # how long events and their deliveries are kept, unless a workspace says otherwise

DELETE = """
WITH expired AS (
  SELECT id FROM alerts_event AS event
   WHERE workspace_id = %(workspace)s AND fired_at <= %(before)s AND NOT EXISTS (
     SELECT FROM alerts_delivery
      WHERE workspace_id = %(workspace)s AND event_id = event.id AND state = 'waiting')
   LIMIT %(batch)s FOR UPDATE SKIP LOCKED
), deliveries AS (
  DELETE FROM alerts_delivery WHERE workspace_id = %(workspace)s AND event_id IN (SELECT id FROM expired)
)
DELETE FROM alerts_event WHERE workspace_id = %(workspace)s AND id IN (SELECT id FROM expired)
"""


def find_kept_since(workspace_id: str, *, now: datetime) -> datetime:
    """Return from when on all events of a workspace are kept. Those that fired earlier may have been deleted."""
    days = RetentionPolicy.objects.filter(workspace=workspace_id).values_list("alerts", flat=True).first()
    return now - timedelta(days=days or KEPT_DAYS)


def find_expired_events(workspace: Workspace, before: datetime) -> QuerySet[Event]:
    """Return the events that fired before this time and have no waiting delivery."""
    waiting_event_ids = Delivery.objects.filter(workspace=workspace, state=Delivery.WAITING).values("event_id")
    return Event.objects.filter(workspace=workspace, fired_at__lte=before).exclude(pk__in=waiting_event_ids)


def delete_expired_events(workspace: Workspace, before: datetime, batch: int) -> int:
    """Delete at most `batch` of these events, with their deliveries; return how many events were deleted."""
    with connection.cursor() as cursor:
        cursor.execute(DELETE, {"workspace": workspace.pk, "before": before, "batch": batch})
        return int(cursor.rowcount)
