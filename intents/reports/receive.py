"""Receive a verification report: it is recorded once, however often it is delivered (contract §3)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from intents.models import VerificationReport
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from wire.redelivery.reports import get_or_create_report
from workspaces.models import ApiKey, Environment


@transaction.atomic
def receive_report(
    environment: Environment,
    report_id: UUID,
    verifications: Sequence[Verification],
    *,
    body: bytes,
    now: datetime,
    api_key: ApiKey | None = None,
) -> int:
    """Record a report and return the sum of its counts, the same for every delivery.

    body: the bytes of the report, which every redelivery must repeat.
    api_key: the key that reported it, for the pages of rejections and of signing secrets.

    Raises ReportIdReused.
    """
    environment.hold()
    values = {"recorded": sum(verification.count for verification in verifications), "received_at": now}
    report, is_new = get_or_create_report(
        VerificationReport.objects.all(), environment.workspace_id, report_id, body, values
    )
    if is_new:
        record_verifications(environment, verifications, api_key=api_key)
    return report.recorded
