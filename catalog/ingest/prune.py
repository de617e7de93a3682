"""Find reports, ids of reports and observed days past their retention; unfolded reports stay. Delete ids in batches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db import connection
from django.db.models import Min, QuerySet

from catalog.inbox_queries import unfolded_reports
from catalog.models import OperationDay, WitnessReport, WitnessReportId
from wire.postgresql.monthly_partitions import MonthlyLog
from workspaces.models import Workspace

INBOX = MonthlyLog(
    "catalog_witnessreport",
    time="received_at",
    owner="environment_id",
    keep_condition="folded_at IS NULL AND parked_at IS NULL",
)
RESOLUTION = timedelta(microseconds=1)
DELETE_IDS = """
DELETE FROM catalog_witnessreportid AS stored USING (
  SELECT workspace_id, report_id FROM catalog_witnessreportid
  WHERE workspace_id = %s AND received_at <= %s LIMIT %s FOR UPDATE SKIP LOCKED
) AS expired
WHERE stored.workspace_id = expired.workspace_id AND stored.report_id = expired.report_id
"""


def find_expired_reports(workspace: Workspace, before: datetime) -> QuerySet[WitnessReport]:
    """Return the reports received before this time that were folded or are dead letters."""
    reports = WitnessReport.objects.filter(environment__workspace=workspace, received_at__lte=before)
    return reports.exclude(folded_at=None, dead_lettered_at=None)


def find_expired_ids(workspace: Workspace, before: datetime) -> QuerySet[WitnessReportId]:
    """Return the ids received before this time and before every unfolded report."""
    return WitnessReportId.objects.filter(workspace=workspace, received_at__lte=_limit_to_folded(workspace, before))


def find_expired_days(workspace: Workspace, before: datetime) -> QuerySet[OperationDay]:
    """Return the evidence of the UTC days that ended before this time."""
    return OperationDay.objects.filter(environment__workspace=workspace, day__lt=before.astimezone(UTC).date())


def delete_expired_ids(workspace: Workspace, before: datetime, batch: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(DELETE_IDS, [workspace.pk, _limit_to_folded(workspace, before), batch])
        return int(cursor.rowcount)


def _limit_to_folded(workspace: Workspace, before: datetime) -> datetime:
    """Return `before`, or the last moment before the oldest unfolded report if that is earlier.

    The ids from that report on are kept, so that its redelivery is still recognised.
    """
    reports = unfolded_reports().filter(environment__workspace=workspace)
    oldest: datetime | None = reports.aggregate(oldest=Min("received_at"))["oldest"]
    return min(before, oldest - RESOLUTION) if oldest else before
