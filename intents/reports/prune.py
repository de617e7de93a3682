"""Delete expired rows, in small batches."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Model, QuerySet

from intents.models import Confirmation, MintedIntent, Rejection, VerificationReport
from workspaces.models import Environment

RETENTION = timedelta(days=400)
# Models whose rows expire, each with the indexed column of the time at which a row was made.
AGE_COLUMNS: tuple[tuple[type[Model], str], ...] = (
    (Rejection, "occurred_at"),
    (MintedIntent, "issued_at"),
    (Confirmation, "created_at"),
)


def delete_expired(*, now: datetime, batch: int = 5000) -> int:
    """Delete one batch of each kind of expired row; return how many. Tallies are never deleted.

    batch: rows of one kind and environment; the rest is deleted by the next call.
    """
    before = now - RETENTION
    deleted = _delete_batch(VerificationReport.objects.filter(received_at__lte=before), batch)
    for environment in Environment.objects.all():
        for model, column in AGE_COLUMNS:
            expired_rows = model._default_manager.filter(environment=environment, **{f"{column}__lte": before})
            deleted += _delete_batch(expired_rows, batch)
    return deleted


def _delete_batch(rows: QuerySet[Model], batch: int) -> int:
    return rows.model._default_manager.filter(pk__in=rows.values("pk")[:batch]).delete()[0]
