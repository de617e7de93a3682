"""Forget what is past its time."""

from datetime import datetime, timedelta

from catalog.models import WitnessReport

ID_KEPT_FOR = timedelta(days=400)


def prune(*, now: datetime, batch: int = 5000) -> int:
    """Forget reports whose id is 400 days old (contract 3), at most `batch`; returns how many.

    One that still waits to be folded stays, however old.
    """
    old = WitnessReport.objects.filter(received_at__lt=now - ID_KEPT_FOR).exclude(folded_at=None, parked_at=None)
    return WitnessReport.objects.filter(pk__in=old.values("pk")[:batch]).delete()[0]
