"""Record and read the quarter hours in which each reporter reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import connection
from django.db.models import QuerySet

from catalog.models import ReporterActivity
from wire.postgresql.replica import get_read_connection
from workspaces.models import Environment, Workspace

RECORD = """
INSERT INTO catalog_reporteractivity (environment_id, reporter, starts_at)
SELECT DISTINCT environment_id, reporter, date_bin('15 minutes', received_at, '2000-01-01 00:00:00+00')
  FROM catalog_witnessreport WHERE environment_id = %s AND id = ANY(%s)
 ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING
"""
# Reports that wait to be folded count, too: a worker that is behind must not make their reporters look silent.
READ = """
SELECT reporter, starts_at FROM catalog_reporteractivity
 WHERE environment_id = %(environment)s AND starts_at >= %(since)s AND starts_at < %(until)s
 UNION
SELECT reporter, date_bin('15 minutes', received_at, '2000-01-01 00:00:00+00') FROM catalog_witnessreport
 WHERE environment_id = %(environment)s AND folded_at IS NULL AND parked_at IS NULL
   AND received_at >= %(since)s AND received_at < %(until)s
 ORDER BY starts_at
"""
DELETE = """
DELETE FROM catalog_reporteractivity AS stored USING (
  SELECT environment_id, reporter, starts_at FROM catalog_reporteractivity
   WHERE environment_id IN (SELECT id FROM workspaces_environment WHERE workspace_id = %(workspace)s)
     AND starts_at < %(before)s
   LIMIT %(batch)s FOR UPDATE SKIP LOCKED
) AS expired
WHERE (stored.environment_id, stored.reporter, stored.starts_at)
    = (expired.environment_id, expired.reporter, expired.starts_at)
"""


def record_activity(environment: Environment, batch: Sequence[int]) -> None:
    """Record the reporters of these reports, by the quarter hour in which each was received."""
    with connection.cursor() as cursor:
        cursor.execute(RECORD, [environment.pk, list(batch)])


def read_activity(environment: Environment, *, since: datetime, until: datetime) -> Mapping[str, Sequence[datetime]]:
    """Return, by the name of a reporter, the starts of the quarter hours in which it reported, the earliest first."""
    quarters: dict[str, list[datetime]] = {}
    with get_read_connection().cursor() as cursor:
        cursor.execute(READ, {"environment": environment.pk, "since": since, "until": until})
        for reporter, starts_at in cursor.fetchall():
            quarters.setdefault(reporter, []).append(starts_at)
    return quarters


def find_expired_activity(workspace: Workspace, before: datetime) -> QuerySet[ReporterActivity]:
    return ReporterActivity.objects.filter(environment__workspace=workspace, starts_at__lt=before)


def delete_expired_activity(workspace: Workspace, before: datetime, batch: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(DELETE, {"workspace": workspace.pk, "before": before, "batch": batch})
        return int(cursor.rowcount)
