"""Delete what is past its time, in small batches; what is not deleted now is the next time."""

from __future__ import annotations

from datetime import datetime, timedelta

from intents.models import VerificationReport

KEPT_FOR = timedelta(days=400)


def prune(*, now: datetime, batch: int = 5000) -> int:
    """Delete the ids of old reports; returns how many. Tallies are never deleted."""
    old = VerificationReport.objects.filter(received_at__lte=now - KEPT_FOR).values("pk")[:batch]
    return VerificationReport.objects.filter(pk__in=old).delete()[0]
