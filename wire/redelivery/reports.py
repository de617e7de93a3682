"""Store a report once, even if its sender delivers it several times (contract §1)."""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from wire.at_rest.keyed_hash import compute_hash, is_hash_of
from wire.errors import DomainError

ReportModel = TypeVar("ReportModel", bound=Model)


class ReportIdReused(DomainError):
    """Another report with this reportId was received before."""

    code = "report-id-reused"
    detail = (
        "This reportId was used for another report. "
        "Send a redelivery with the same body, and a new report with a new id."
    )


def get_or_create_report(
    reports: QuerySet[ReportModel], workspace_id: str, report_id: UUID, body: bytes, values: dict[str, Any]
) -> tuple[ReportModel, bool]:
    """Return the report of this id, and whether it is new. `values` are the other columns of a new one.

    The model is unique on workspace and report_id, and keeps the keyed hash of the body's SHA-256 in `digest`.
    Raises ReportIdReused if the id was used with another body.
    """
    body_digest = hashlib.sha256(body).digest()
    report, is_new = reports.get_or_create(
        workspace_id=workspace_id,
        report_id=report_id,
        defaults={"digest": compute_hash(workspace_id, body_digest), **values},
    )
    stored_hash = bytes(getattr(report, "digest"))  # noqa: B009 - no common base of the models has it
    if not is_hash_of(stored_hash, workspace_id, body_digest):
        raise ReportIdReused
    return report, is_new
