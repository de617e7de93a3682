"""Whether two shares differ by more than chance (pure)."""

from __future__ import annotations

from math import sqrt

LARGEST_BY_CHANCE = 1.96  # standard errors: two equal shares differ by more in one of twenty samples


def is_within_chance(count: int, total: int, other_count: int, other_total: int) -> bool:
    """Return whether chance alone often makes samples of these sizes differ so much (test of two proportions).

    Both totals are above 0.
    """
    pooled = (count + other_count) / (total + other_total)
    error = sqrt(max(0.0, pooled * (1 - pooled)) * (1 / total + 1 / other_total))
    return abs(count / total - other_count / other_total) <= LARGEST_BY_CHANCE * error
