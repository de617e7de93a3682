"""Compute whether two shares may differ by chance alone, and how probable a run of absences is by chance (pure)."""

from __future__ import annotations

from math import sqrt

LARGEST_BY_CHANCE = 1.96  # in standard errors; samples of two equal shares differ by more in one of twenty cases


def is_within_chance(count: int, total: int, other_count: int, other_total: int) -> bool:
    """Return whether chance alone may explain how much the two shares differ (test of two proportions).

    Both totals are above 0.
    """
    pooled = (count + other_count) / (total + other_total)
    error = sqrt(max(0.0, pooled * (1 - pooled)) * (1 / total + 1 / other_total))
    return abs(count / total - other_count / other_total) <= LARGEST_BY_CHANCE * error


def chance_of_run(missing: int, present: int, total: int) -> float:
    """Return the probability that the latest `missing` cases all lack a property by chance alone.

    missing: the number of the latest cases, none of which has it.
    present, total: how many cases have it, and how many cases there are.

    This is Fisher's one-sided test: every order of the cases counts as equally probable.
    """
    chance = 1.0
    for index in range(missing):
        chance *= max(0, total - present - index) / (total - index)
    return chance
