"""The reports that a fold takes from the inbox as one batch: lock, sum and mark them, or make one a dead letter."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet

from affidavit.operations import DailySums
from catalog.ingest.observations import unpack_sums
from catalog.models import WitnessReport
from wire.postgresql.named_lock import hold_named_lock
from workspaces.models import Environment

MAX_BATCH_REPORTS = 500  # more make the merge cheaper per report, fewer let other environments wait less
MAX_BATCH_BYTES = 16 * 1024 * 1024  # of bodies as received: bounds the memory of one batch
LOCK = """
SELECT id, size FROM catalog_witnessreport
 WHERE environment_id = %s AND folded_at IS NULL AND parked_at IS NULL
 ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
"""


class Batch(NamedTuple):
    """Reports that this transaction has locked.

    is_full: whether the batch was full, so that more reports may wait.
    """

    ids: Sequence[int]
    is_full: bool


def lock_batch(environment: Environment) -> Batch:
    """Lock the oldest unfolded reports that fit a batch, without those that another worker has locked.

    The batch has at least one report, if there is any. A second call in the same transaction includes the reports that
    the first call has locked.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [environment.pk, MAX_BATCH_REPORTS])
        rows = cursor.fetchall()
    ids: list[int] = []
    total_bytes = 0
    for report_id, size in rows:
        total_bytes += size
        if ids and total_bytes > MAX_BATCH_BYTES:
            return Batch(ids, is_full=True)
        ids.append(report_id)
    return Batch(ids, is_full=len(ids) == MAX_BATCH_REPORTS)


def announce_fold(environment_id: int) -> None:
    """Let `is_being_folded` see this fold until the transaction ends."""
    hold_named_lock(_name_fold(environment_id), is_shared=True)


@transaction.atomic
def is_being_folded(environment_id: int) -> bool:
    """Return whether a worker folds reports of this environment at the moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [_name_fold(environment_id)])
        return not cursor.fetchone()[0]


def _name_fold(environment_id: int) -> str:
    return f"catalog.fold at work {environment_id}"


def sum_reports(environment: Environment, batch: Sequence[int]) -> DailySums:
    """Return the sum of these reports."""
    total = DailySums()
    reports = WitnessReport.objects.filter(environment=environment, pk__in=batch)
    states: QuerySet[WitnessReport, Any] = reports.values_list("sums", flat=True)
    for state in states.iterator(chunk_size=10):
        total.add_all(DailySums.from_state(unpack_sums(state)))
    return total


def mark_folded(environment: Environment, batch: Sequence[int], *, now: datetime) -> None:
    WitnessReport.objects.filter(environment=environment, pk__in=batch).update(folded_at=now, sums=None)


def move_to_dead_letters(environment: Environment, report_id: int, failure: str, *, now: datetime) -> None:
    """Make one report a dead letter. The message names the kind of failure and repeats nothing of the report."""
    fault = f"Its sums cannot be read or added ({failure}). Report the same under a new reportId."
    WitnessReport.objects.filter(environment=environment, pk=report_id).update(dead_lettered_at=now, fault=fault)
