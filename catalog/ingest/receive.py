"""Take one witness report in: it is durable when this returns, and folded into the catalog soon after (contract 4)."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from catalog import tasks
from catalog.ingest.inbox import pack_sums
from catalog.models import WitnessReport
from wire import wake_worker
from wire.keyed_hash import compute_hash
from wire.postgresql.confirm import confirm_statement
from wire.prepared_statements import open_prepared_cursor
from wire.redelivery.reports import get_or_create_report
from workspaces.models import Environment, EnvironmentRemoved

# The environment is locked first, as `Environment.hold` does. A row of the same id, from a redelivery perhaps, is left.
INSERT_REPORT = """
WITH environment_row AS MATERIALIZED (
  SELECT FROM workspaces_environment WHERE id = %(environment)s FOR KEY SHARE
), new_report AS (
  INSERT INTO catalog_witnessreport
    (workspace_id, environment_id, report_id, digest, reporter, size, sums, received_at, fault)
  SELECT %(workspace)s::text, %(environment)s, %(report_id)s::uuid, %(digest)s::bytea, %(reporter)s::text,
         %(size)s::integer, %(sums)s::jsonb, %(received_at)s::timestamptz, ''
  FROM environment_row
  ON CONFLICT (workspace_id, report_id) DO NOTHING
  RETURNING id
)
SELECT EXISTS (SELECT FROM environment_row), EXISTS (SELECT FROM new_report)
"""


def receive_report(
    environment: Environment, report_id: UUID, body: bytes, sums: str, *, reporter: str = "", now: datetime
) -> None:
    """Store one report in the inbox and wake the worker. A redelivery changes nothing. Raises ReportIdReused.

    sums: the sanitized sums as JSON. Nothing else of it is stored: never a raw path segment, never a property name that
    looks like data.
    """
    if _insert_report(environment, report_id, body, sums, reporter, now) or _compare_report(
        environment, report_id, body, sums, reporter, now
    ):
        wake_worker.send_after_commit(tasks.fold, environment.pk)


def _insert_report(
    environment: Environment, report_id: UUID, body: bytes, sums: str, reporter: str, now: datetime
) -> bool:
    """Store the report, unless there is one of this id; in one statement, which saves those that begin and commit."""
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
    """Compare the report with the one of this id; raises ReportIdReused. Store it if that is gone by now."""
    environment.hold()
    values = {
        "environment": environment,
        "reporter": reporter,
        "size": len(body),
        "sums": pack_sums(sums),
        "received_at": now,
    }
    reports = WitnessReport.objects.defer("sums")
    _, is_new = get_or_create_report(reports, environment.workspace_id, report_id, body, values)
    return is_new
