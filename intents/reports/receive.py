"""Take a verification report: recorded once, however often it is delivered (contract 3)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from intents.models import VerificationReport
from intents.reports.record import record
from intents.reports.tally import Verification
from wire.http.machine_view import report_id_reused
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

    Raises Problem 422 `report-id-reused`.
    """
    environment.hold()
    digest = hashlib.sha256(body).digest()
    recorded = sum(each.count for each in verifications)
    report, is_new = VerificationReport.objects.get_or_create(
        workspace_id=environment.workspace_id,
        report_id=report_id,
        defaults={"digest": digest, "recorded": recorded, "received_at": now},
    )
    if bytes(report.digest) != digest:
        raise report_id_reused()
    if is_new:
        record(environment, verifications)
    return report.recorded
