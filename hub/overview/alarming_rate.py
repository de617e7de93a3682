"""When a rate that should be low is alarming on the overview (pure)."""

from __future__ import annotations

from wire.significance import is_within_chance

ALARMING_FACTOR = 2  # a rate is alarming if it is this many times the rate of the period before
MIN_ALARMING_CASES = 10


def is_alarming_rate(value: int, total: int, previous: int, previous_total: int) -> bool:
    """Return whether a rate is well above that of the period before, if there is one.

    A rise that may be chance does not count.
    """
    if not total or not previous_total or value < MIN_ALARMING_CASES:
        return False
    if is_within_chance(value, total, previous, previous_total):
        return False
    return value / total > ALARMING_FACTOR * previous / previous_total
