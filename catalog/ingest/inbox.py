"""Take one witness report in: durable when this returns, summed into the catalog soon after (contract 4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from catalog import tasks
from catalog.ingest.sanitize import Observation, summed
from catalog.models import WitnessReport
from wire import wake_worker
from wire.redelivery.reports import get_or_create_report
from workspaces.models import Environment


@transaction.atomic
def receive(
    environment: Environment,
    report_id: UUID,
    body_bytes: bytes,
    observations: Sequence[Observation],
    *,
    reporter: str = "",
    now: datetime,
) -> None:
    """One row in the inbox. The same id and bytes change nothing; raises ReportIdReused.

    Only sums made at the door are stored, so that no raw path segment or data-like name of a body ever is.
    """
    environment.hold()
    values = {
        "environment": environment,
        "reporter": reporter,
        "size": len(body_bytes),
        "sums": summed(observations, received_at=now).to_state(),
        "received_at": now,
    }
    reports = WitnessReport.objects.defer("sums")
    _, is_new = get_or_create_report(reports, environment.workspace_id, report_id, body_bytes, values)
    if is_new:
        wake_worker.ring(tasks.fold, environment.pk)
