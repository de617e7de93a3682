"""The time at which a simulated history ends in tests."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

WEDNESDAY = 2


def find_wednesday_noon() -> datetime:
    """Return noon of the last Wednesday, so that a history is the same whenever the test runs.

    What people do in a history depends on its weekdays and hours.
    """
    noon = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
    noon -= timedelta(days=(noon.weekday() - WEDNESDAY) % 7)
    return noon if noon <= timezone.now() else noon - timedelta(days=7)
