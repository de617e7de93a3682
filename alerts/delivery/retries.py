"""Find when to retry a delivery (pure): after growing pauses, or later if the receiver asks for it (at most 4 h)."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

RETRIED_FOR = timedelta(hours=24)
PAUSES = [timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 1800, 3600, 7200, 14400)]
LONGEST_RETRY_AFTER = timedelta(hours=4)
JITTER = 0.2  # pauses vary by this share, so that deliveries that failed together are not retried together
LONGEST_PAUSE = max(PAUSES[-1] * (1 + JITTER), LONGEST_RETRY_AFTER)


def find_next_attempt(
    attempts: int,
    queued_at: datetime,
    *,
    now: datetime,
    retry_after: timedelta | None = None,
    draw: Callable[[], float] = random.random,
) -> datetime | None:
    """Return when to try again after this many attempts; None once RETRIED_FOR is over.

    retry_after: the shortest pause that the receiver asked for.
    draw: returns a random number in [0, 1).

    The last attempt is made exactly when RETRIED_FOR ends.
    """
    if now >= queued_at + RETRIED_FOR:
        return None
    pause = PAUSES[min(attempts, len(PAUSES)) - 1]
    pause *= 1 - JITTER + 2 * JITTER * draw()
    return min(now + max(pause, retry_after or timedelta()), queued_at + RETRIED_FOR)


def parse_retry_after(text: str, *, now: datetime) -> timedelta | None:
    """Return the pause that a `Retry-After` asks for, at most four hours.

    text: a number of seconds, or a date (RFC 9110, 10.2.3).

    Return None if the text is empty, is neither a number nor a date, or names no later time than now.
    """
    text = text.strip()
    if text.isascii() and text.isdecimal():
        pause = timedelta(seconds=int(text[:9]))  # more digits are beyond the longest pause in any case
    else:
        try:
            until = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        pause = (until if until.tzinfo else until.replace(tzinfo=UTC)) - now
    return min(pause, LONGEST_RETRY_AFTER) if pause > timedelta() else None
