"""Store one witness report durably. The worker folds it into the catalog soon after (contract §4)."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from catalog.ingest import tasks
from catalog.ingest.observations import pack_sums
from catalog.models import WitnessReport, WitnessReportId
from wire import wake_worker
from wire.at_rest.keyed_hash import compute_hash
from wire.postgresql.prepared_statements import open_prepared_cursor
from wire.postgresql.unconfirmed_commits import confirm_statement
from wire.redelivery.reports import get_or_create_report
from workspaces.errors import EnvironmentRemoved
from workspaces.models import Environment

# The environment is locked first, as `Environment.hold` does. If the id is stored already, nothing is inserted.
INSERT_REPORT = """
WITH environment_row AS MATERIALIZED (
  SELECT FROM workspaces_environment WHERE id = %(environment)s FOR KEY SHARE
), new_id AS (
  INSERT INTO catalog_witnessreportid (workspace_id, report_id, digest, received_at)
  SELECT %(workspace)s::text, %(report_id)s::uuid, %(digest)s::bytea, %(received_at)s::timestamptz FROM environment_row
  ON CONFLICT (workspace_id, report_id) DO NOTHING
  RETURNING report_id
), new_report AS (
  INSERT INTO catalog_witnessreport (environment_id, report_id, reporter, size, sums, received_at, fault)
  SELECT %(environment)s, report_id, %(reporter)s::text, %(size)s::integer, %(sums)s::jsonb,
         %(received_at)s::timestamptz, ''
  FROM new_id
)
SELECT EXISTS (SELECT FROM environment_row), EXISTS (SELECT FROM new_id)
"""


def receive_report(
    environment: Environment, report_id: UUID, body: bytes, sums: str, *, reporter: str = "", now: datetime
) -> None:
    """Store one report in the inbox and wake the worker. A redelivery changes nothing. Raises ReportIdReused.

    sums: the sanitized sums as JSON.

    Nothing else of the observations is stored: never a raw path segment, never a property name that looks like data.
    """
    if _insert_report(environment, report_id, body, sums, reporter, now) or _compare_report(
        environment, report_id, body, sums, reporter, now
    ):
        wake_worker.send_after_commit(tasks.fold, environment.pk)


def _insert_report(
    environment: Environment, report_id: UUID, body: bytes, sums: str, reporter: str, now: datetime
) -> bool:
    """Store the report unless there is one with this id, in one statement, which needs no BEGIN and COMMIT."""
    workspace_id = environment.workspace_id
    parameters: dict[str, Any] = {
        "environment": environment.pk,
        "workspace": workspace_id,
        "report_id": report_id,
        "digest": compute_hash(workspace_id, hashlib.sha256(body).digest()),
        "reporter": reporter,
        "size": len(body),
        "sums": json.dumps(pack_sums(sums)),
        "received_at": now,
    }
    with open_prepared_cursor() as cursor, confirm_statement():
        cursor.execute(INSERT_REPORT, parameters)
        environment_exists, is_new = cursor.fetchone()
    if not environment_exists:
        raise EnvironmentRemoved
    return bool(is_new)


@transaction.atomic
def _compare_report(
    environment: Environment, report_id: UUID, body: bytes, sums: str, reporter: str, now: datetime
) -> bool:
    """Compare the report with the stored report of this id; raises ReportIdReused.

    Store the report if the stored one has been deleted meanwhile.
    """
    environment.hold()
    ids = WitnessReportId.objects.all()
    _, is_new = get_or_create_report(ids, environment.workspace_id, report_id, body, {"received_at": now})
    if is_new:
        WitnessReport.objects.create(
            environment=environment,
            report_id=report_id,
            reporter=reporter,
            size=len(body),
            sums=pack_sums(sums),
            received_at=now,
        )
    return is_new
