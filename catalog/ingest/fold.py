"""Fold witness reports into the catalog: each exactly once, in any order, by any number of workers."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from catalog.ingest.inbox import lock_batch, mark_folded, move_to_dead_letters, sum_reports
from catalog.ingest.merge import merge_into_catalog
from catalog.rules.reproject import lock_operations
from wire.errors import is_outage
from wire.metrics import FOLDED, FOLDS, count_after_commit
from wire.turns import UNLIMITED, Turn
from workspaces.models import Environment

MAX_BATCH_REPORTS = 200
MAX_BATCH_BYTES = 16 * 1024 * 1024  # of bodies as received: bounds the memory of one batch
log = logging.getLogger("affidavit.fold")


def fold_reports(environment: Environment, *, now: datetime | None = None, turn: Turn = UNLIMITED) -> int:
    """Fold the unfolded reports of this environment, batch by batch, until none is left or the turn is over.

    Return how many were folded or became dead letters.
    """
    return turn.repeat(lambda: fold_batch(environment, now=now))


@transaction.atomic
def fold_batch(environment: Environment, *, now: datetime | None = None) -> int:
    """Fold one batch in one transaction. A report that cannot be folded becomes a dead letter and blocks no other.

    now: when the batch was locked, unless given; earlier, it might precede a report that arrived meanwhile.
    """
    began = time.perf_counter()
    if not environment.try_hold():
        return 0
    lock_operations(environment)
    batch = lock_batch(environment, max_reports=MAX_BATCH_REPORTS, max_bytes=MAX_BATCH_BYTES)
    now = now or timezone.now()
    if batch and try_fold(environment, batch, now=now):
        for report_id in batch:
            if failure := try_fold(environment, [report_id], now=now):
                move_to_dead_letters(report_id, failure, now=now)
    if batch:
        FOLDS.observe(time.perf_counter() - began)
        count_after_commit(FOLDED, len(batch))
    return len(batch)


def try_fold(environment: Environment, batch: Sequence[int], *, now: datetime) -> str:
    """Merge the sum of these reports into the catalog and mark them. Return "", or after a rollback what failed."""
    try:
        with transaction.atomic():
            merge_into_catalog(environment, sum_reports(batch), now=now)
            mark_folded(batch, now=now)
    except Exception as error:  # whatever is wrong with one report must not block the others
        if is_outage(error):
            raise
        log.warning("%d reports could not be folded together: %s", len(batch), type(error).__name__)
        return type(error).__name__
    return ""
