"""Delete reports and days that a workspace no longer keeps, in small batches. Unfolded reports stay, however old."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db.models import QuerySet

from catalog.models import OperationDay, WitnessReport
from wire.batches import delete_batch
from workspaces.models import Workspace


def find_expired_reports(workspace: Workspace, before: datetime) -> QuerySet[WitnessReport]:
    """Return the reports received before this time that were folded or are dead letters."""
    reports = WitnessReport.objects.filter(workspace=workspace, received_at__lte=before)
    return reports.exclude(folded_at=None, dead_lettered_at=None)


def delete_expired_reports(workspace: Workspace, before: datetime, batch: int) -> int:
    return delete_batch(find_expired_reports(workspace, before), batch)


def find_expired_days(workspace: Workspace, before: datetime) -> QuerySet[OperationDay]:
    """Return what was observed on the UTC days that ended before this time."""
    return OperationDay.objects.filter(environment__workspace=workspace, day__lt=before.astimezone(UTC).date())


def delete_expired_days(workspace: Workspace, before: datetime, batch: int) -> int:
    return delete_batch(find_expired_days(workspace, before), batch)
