"""Delete counts of refused requests that a workspace no longer keeps."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import QuerySet

from workspaces.models import RefusalTally, Workspace

HOUR = timedelta(hours=1)
DELETE = """
DELETE FROM workspaces_refusaltally AS stored USING (
  SELECT workspace_id, api_key_id, endpoint, code, starts_at FROM workspaces_refusaltally
   WHERE workspace_id = %(workspace)s AND starts_at <= %(before)s
   LIMIT %(batch)s FOR UPDATE SKIP LOCKED
) AS expired
WHERE (stored.workspace_id, stored.api_key_id, stored.endpoint, stored.code, stored.starts_at)
    = (expired.workspace_id, expired.api_key_id, expired.endpoint, expired.code, expired.starts_at)
"""


def find_expired_refusals(workspace: Workspace, before: datetime) -> QuerySet[RefusalTally]:
    """Return the counts of the hours that ended before this time."""
    return RefusalTally.objects.filter(workspace=workspace, starts_at__lte=before - HOUR)


def delete_expired_refusals(workspace: Workspace, before: datetime, batch: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(DELETE, {"workspace": workspace.pk, "before": before - HOUR, "batch": batch})
        return int(cursor.rowcount)
