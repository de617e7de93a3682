"""Take one witness report in: it is durable when this returns, and folded into the catalog soon after (contract 4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from catalog import tasks
from catalog.ingest.sanitize import Observation, sum_observations
from catalog.models import WitnessReport
from wire import wake_worker
from wire.redelivery.reports import get_or_create_report
from workspaces.models import Environment


@transaction.atomic
def receive_report(
    environment: Environment,
    report_id: UUID,
    body: bytes,
    observations: Sequence[Observation],
    *,
    reporter: str = "",
    now: datetime,
) -> None:
    """Store one report in the inbox and wake the worker. A redelivery changes nothing. Raises ReportIdReused.

    Only sanitized sums are stored: never a raw path segment, never a property name that looks like data.
    """
    environment.hold()
    values = {
        "environment": environment,
        "reporter": reporter,
        "size": len(body),
        "sums": sum_observations(observations, received_at=now).to_state(),
        "received_at": now,
    }
    reports = WitnessReport.objects.defer("sums")
    _, is_new = get_or_create_report(reports, environment.workspace_id, report_id, body, values)
    if is_new:
        wake_worker.send_after_commit(tasks.fold, environment.pk)
