"""Fold witness reports into the catalog: each exactly once, in any order, by any number of workers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from django.db import connection, transaction

from affidavit.operations import DailySums
from catalog.ingest.merge import merge_into_catalog
from catalog.models import WitnessReport
from wire.errors import is_outage
from workspaces.models import Environment

MAX_REPORTS = 200
MAX_BYTES = 16 * 1024 * 1024  # of bodies as received: bounds the memory of one batch
log = logging.getLogger("affidavit.fold")


def fold(environment: Environment, *, now: datetime) -> int:
    """Fold all that waits in this environment; returns how many reports were folded or parked."""
    done = 0
    while handled := fold_batch(environment, now=now):
        done += handled
    return done


@transaction.atomic
def fold_batch(environment: Environment, *, now: datetime) -> int:
    """One batch in one transaction. A report that cannot be folded is parked and blocks no other."""
    if not environment.is_held():
        return 0
    one_at_a_time(environment)
    batch = waiting(environment)
    if batch and failure_of(environment, batch, now=now):
        for report_id in batch:
            if failure := failure_of(environment, [report_id], now=now):
                park(report_id, failure, now=now)
    return len(batch)


def one_at_a_time(environment: Environment) -> None:
    """One fold at a time in an environment: the merge reads what it writes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"catalog.fold {environment.pk}"])


def waiting(environment: Environment) -> list[int]:
    """The oldest unfolded reports that fit a batch, locked; at least one if there is any."""
    rows = (
        WitnessReport.objects.filter(environment=environment, folded_at=None, parked_at=None)
        .order_by("id")
        .select_for_update(skip_locked=True, of=("self",))
        .values_list("id", "size")[:MAX_REPORTS]
    )
    batch: list[int] = []
    taken = 0
    for report_id, size in rows:
        taken += size
        if batch and taken > MAX_BYTES:
            break
        batch.append(report_id)
    return batch


def failure_of(environment: Environment, batch: Sequence[int], *, now: datetime) -> str:
    """Sum these reports, merge the sum once, mark them; or do nothing and name the kind of failure."""
    try:
        with transaction.atomic():
            merge_into_catalog(environment, summed(batch), now=now)
            WitnessReport.objects.filter(pk__in=batch).update(folded_at=now, sums=None)
    except Exception as error:  # whatever is wrong with one report must not block the others
        if is_outage(error):
            raise
        log.warning("%d reports could not be folded together: %s", len(batch), type(error).__name__)
        return type(error).__name__
    return ""


def summed(batch: Sequence[int]) -> DailySums:
    sums = DailySums()
    for held in WitnessReport.objects.filter(pk__in=batch).values_list("sums", flat=True).iterator(chunk_size=10):
        sums.add_all(DailySums.from_state(held))
    return sums


def park(report_id: int, failure: str, *, now: datetime) -> None:
    """Set one report aside with its kind of failure; nothing of the report is repeated."""
    fault = f"Its sums cannot be read or added ({failure}). Report the same under a new reportId."
    WitnessReport.objects.filter(pk=report_id).update(parked_at=now, fault=fault)
