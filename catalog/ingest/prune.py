"""Delete folded reports that a workspace no longer keeps, in small batches. Unfolded ones stay, however old."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from catalog.models import WitnessReport
from wire.batches import delete_batch
from workspaces.models import Workspace


def find_expired_reports(workspace: Workspace, before: datetime) -> QuerySet[WitnessReport]:
    """Return the reports received before this time that were folded or are dead letters."""
    reports = WitnessReport.objects.filter(workspace=workspace, received_at__lte=before)
    return reports.exclude(folded_at=None, dead_lettered_at=None)


def delete_expired_reports(workspace: Workspace, before: datetime, batch: int) -> int:
    return delete_batch(find_expired_reports(workspace, before), batch)
