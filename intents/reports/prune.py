"""Delete what is past its time, in small batches; what is not deleted now is the next time."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Model, QuerySet

from intents.models import Confirmation, MintedIntent, Rejection, VerificationReport
from workspaces.models import Environment

KEPT_FOR = timedelta(days=400)
# What an environment keeps a row of each, and by which column, its index, it ages.
KEPT = ((Rejection, "occurred_at"), (MintedIntent, "issued_at"), (Confirmation, "created_at"))


def prune(*, now: datetime, batch: int = 5000) -> int:
    """Delete the ids of old reports, and old single rows; returns how many. Tallies are never deleted."""
    before = now - KEPT_FOR
    deleted = delete(VerificationReport.objects.filter(received_at__lte=before), batch)
    for environment in Environment.objects.all():
        for model, aged_by in KEPT:
            old = model._default_manager.filter(environment=environment, **{f"{aged_by}__lte": before})
            deleted += delete(old, batch)
    return deleted


def delete(old: QuerySet[Model], batch: int) -> int:
    return old.model._default_manager.filter(pk__in=old.values("pk")[:batch]).delete()[0]
