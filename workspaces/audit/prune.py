"""Find entries of the audit log that a workspace no longer keeps. Only the worker and commands may delete them."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from wire.postgresql.monthly_partitions import MonthlyLog
from workspaces.models import AuditEntry, Workspace

AUDIT_LOG = MonthlyLog("workspaces_auditentry", time="at", owner="workspace_id")


def find_expired_entries(workspace: Workspace, before: datetime) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(workspace_id=workspace.pk, at__lte=before)
