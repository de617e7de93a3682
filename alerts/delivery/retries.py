"""When a delivery is tried again (pure)."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta

RETRIED_FOR = timedelta(hours=24)
PAUSES = [timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 1800, 3600, 7200, 14400)]
JITTER = 0.2  # of a pause, so that deliveries that failed together are not retried together


def find_next_attempt(
    attempts: int, queued_at: datetime, *, now: datetime, draw: Callable[[], float] = random.random
) -> datetime | None:
    """Return when to try again after this many attempts; None when the time for it is over. draw: a number in [0, 1).

    The last attempt is made when the time ends.
    """
    if now >= queued_at + RETRIED_FOR:
        return None
    pause = PAUSES[min(attempts, len(PAUSES)) - 1]
    return min(now + pause * (1 - JITTER + 2 * JITTER * draw()), queued_at + RETRIED_FOR)
