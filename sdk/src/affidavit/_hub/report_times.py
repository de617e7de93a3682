"""The times that a report may have (contract §1)."""

from datetime import UTC, datetime

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_LONGEST_AHEAD = 86_400  # seconds


def bound_moment(moment: float, now: float) -> float:
    """Return the moment, or now if the hub would refuse it, and the whole report with it.

    Such a moment comes from a clock that was wrong and has been set since.
    """
    return moment if EARLIEST <= moment <= now + _LONGEST_AHEAD else now
