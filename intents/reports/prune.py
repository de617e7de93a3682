"""Find rejections and report ids that a workspace no longer keeps; `hub.retention` deletes them, but never tallies."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from intents.models import Rejection, VerificationReport
from wire.postgresql.monthly_partitions import MonthlyLog
from workspaces.models import Workspace

REJECTIONS = MonthlyLog("intents_rejection", time="occurred_at", owner="environment_id")


def find_expired_rejections(workspace: Workspace, before: datetime) -> QuerySet[Rejection]:
    return Rejection.objects.filter(environment__workspace=workspace, occurred_at__lte=before)


def find_expired_reports(workspace: Workspace, before: datetime) -> QuerySet[VerificationReport]:
    """Return the verification reports received before this time. Only their ids, digests and sums are stored."""
    return VerificationReport.objects.filter(workspace=workspace, received_at__lte=before)
