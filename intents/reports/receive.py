"""Take a verification report: recorded once, however often it is delivered (contract 3)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from intents.models import VerificationReport
from intents.reports.record import record
from intents.reports.tally import Verification
from wire.redelivery.reports import get_or_create_report
from workspaces.models import Environment


@transaction.atomic
def take_report(
    environment: Environment,
    report_id: UUID,
    verifications: Sequence[Verification],
    *,
    body: bytes,
    now: datetime,
) -> int:
    """Returns the sum of the counts, the same for every delivery; `body` is what a redelivery has to repeat.

    Raises ReportIdReused.
    """
    environment.hold()
    recorded = sum(each.count for each in verifications)
    values = {"recorded": recorded, "received_at": now}
    report, is_new = get_or_create_report(
        VerificationReport.objects.all(), environment.workspace_id, report_id, body, values
    )
    if is_new:
        record(environment, verifications)
    return report.recorded
