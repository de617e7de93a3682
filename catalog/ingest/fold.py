"""Fold witness reports into the catalog: each exactly once, in any order, by any number of workers."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from catalog.ingest.merge import merge_into_catalog
from catalog.ingest.report_batch import announce_fold, lock_batch, mark_folded, move_to_dead_letters, sum_reports
from catalog.reporter_activity import record_activity
from catalog.rules.locks import lock_operations
from wire.metrics.definitions import FOLDED, FOLDS, count_after_commit
from wire.postgresql.database_outage import is_outage
from wire.postgresql.sqlstates import find_sqlstate
from wire.task_turns import UNLIMITED, Turn
from workspaces.models import Environment

log = logging.getLogger("affidavit.fold")


def fold_reports(environment: Environment, *, now: datetime | None = None, turn: Turn = UNLIMITED) -> int:
    """Fold the unfolded reports of this environment, batch by batch, until none is left or the turn is over.

    Return how many were folded or became dead letters.
    """
    return turn.repeat(lambda: fold_batch(environment, now=now))


@transaction.atomic
def fold_batch(environment: Environment, *, now: datetime | None = None) -> int:
    """Fold one batch in one transaction. Return the number of its reports.

    Other workers pass over the reports that this one has locked. While many reports wait, several workers sum full
    batches of one environment side by side; only their merges follow one another. A smaller batch first waits for its
    turn to merge, then includes the reports that came meanwhile. So several workers merge no more often than one would.
    """
    started_at = time.perf_counter()
    if not environment.try_hold():
        return 0
    announce_fold(environment.pk)
    batch = lock_batch(environment)
    if batch.ids and not batch.is_full:
        lock_operations(environment)
        batch = lock_batch(environment)
    if batch.ids:
        fold_or_halve(environment, batch.ids, now=now)
        FOLDS.observe(time.perf_counter() - started_at)
        count_after_commit(FOLDED, len(batch.ids))
    return len(batch.ids)


def fold_or_halve(environment: Environment, batch: Sequence[int], *, now: datetime | None) -> None:
    """Fold these reports together. If that fails, fold each half. A report that fails alone becomes a dead letter."""
    failure = try_fold(environment, batch, now=now)
    if failure and len(batch) == 1:
        lock_operations(environment)  # before the rows of activity, as in try_fold, so that no two workers can deadlock
        record_activity(environment, batch)  # its reporter is not silent
        move_to_dead_letters(environment, batch[0], failure, now=now or timezone.now())
    elif failure:
        middle = len(batch) // 2
        fold_or_halve(environment, batch[:middle], now=now)
        fold_or_halve(environment, batch[middle:], now=now)


def try_fold(environment: Environment, batch: Sequence[int], *, now: datetime | None) -> str:
    """Merge the sum of these reports into the catalog and mark them. Return "", or the failure after a rollback.

    now: the time of the fold, by default the time after locking the operations; an earlier time could be before another
        worker's merge.
    """
    try:
        with transaction.atomic():
            sums = sum_reports(environment, batch)
            lock_operations(environment)
            merged_at = now or timezone.now()
            merge_into_catalog(environment, sums, now=merged_at)
            record_activity(environment, batch)
            mark_folded(environment, batch, now=merged_at)
    except Exception as error:  # whatever is wrong with one report must not block the others
        if is_outage(error):
            raise
        name, state = type(error).__name__, find_sqlstate(error)
        log.warning("%d reports could not be folded together: %s", len(batch), name, extra={"sqlstate": state})
        return type(error).__name__
    return ""
