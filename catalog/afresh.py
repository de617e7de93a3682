"""Start afresh: learn the shapes of an operation anew, after a change on purpose; taken back, as if it never was.

Evidence is kept by epoch. A fresh start begins one and hides those before, in projection only: what is shown is the
sum over the epochs from the last fresh start on that holds.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from django.db import transaction

from affidavit.operations import Identity
from catalog.fold import one_at_a_time
from catalog.models import FreshStart, Operation, OperationVersion
from catalog.projection import project
from catalog.store import sum_of
from workspaces.models import AuditEntry


@transaction.atomic
def start_afresh(operation: Operation, *, actor: str, now: datetime) -> FreshStart:
    """From now on only what comes is shown. Statuses, times and counts of observations stay."""
    row = held(operation)
    row.epoch += 1
    start = FreshStart.objects.create(operation=row, epoch=row.epoch, at=now, actor=actor, statuses=row.statuses)
    show(row, now=now)
    log(row, "operation started afresh", actor=actor, now=now)
    return start


@transaction.atomic
def take_back(start: FreshStart, *, actor: str, now: datetime) -> None:
    """Show what would have been shown without it. A second time changes nothing."""
    row = held(start.operation)
    if FreshStart.objects.filter(pk=start.pk, taken_back_at=None).update(taken_back_at=now):
        show(row, now=now)
        log(row, "fresh start taken back", actor=actor, now=now)


def held(operation: Operation) -> Operation:
    """The row as it is now, in a transaction in which no fold can touch it."""
    operation.environment.hold()
    one_at_a_time(operation.environment)
    return Operation.objects.select_related("environment").prefetch_related("parts").get(pk=operation.pk)


def show(row: Operation, *, now: datetime) -> None:
    """Project the row again under the fresh starts that hold; another outline is a version."""
    latest = row.fresh_starts.filter(taken_back_at=None).first()
    row.shown_from = latest.epoch if latest else 0
    before = bytes(row.outline_digest)
    summed = sum_of(row)
    for name, value in asdict(project(Identity(row.method, row.key), summed)).items():
        setattr(row, name, value)
    if row.begun and before != row.outline_digest:
        row.version += 1
        OperationVersion.objects.create(
            operation=row, number=row.version, at=now, since=now, observations=row.observations, outline=row.outline
        )
    row.save()


def log(row: Operation, action: str, *, actor: str, now: datetime) -> None:
    facts = {"environment": row.environment.name, "operation": str(row)}
    AuditEntry.objects.create(
        workspace_id=row.environment.workspace_id, at=now, actor=actor, action=action, facts=facts
    )
