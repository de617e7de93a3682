"""The times that a report may have (contract §1)."""

from datetime import UTC, datetime

_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_LONGEST_AHEAD = 86_400  # seconds


def bound_moment(moment: float, now: float) -> float:
    """Return the moment, or now if the hub would refuse it, and the whole report with it.

    Such a moment comes from a clock that was wrong and has been set since.
    """
    return moment if may_be_reported(moment, now) else now


def may_be_reported(moment: float, now: float) -> bool:
    """Return whether the hub accepts this time of an observation. Both are Unix seconds."""
    return _EARLIEST <= moment <= now + _LONGEST_AHEAD
