"""Counts and broken rates of two periods as they would be if no joins had been moved."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from outcomes.tallies.moved_counts import NOTHING_MOVED, MovedCounts
from outcomes.tallies.series import Totals


@dataclass(frozen=True)
class RateWithoutMoves:
    """The broken rates of a period and of the one before, as they would be if no joins had been moved.

    value, total: the broken joins and the reported outcomes of the period.
    previous, previous_total: the same of the period before.
    moved_away: how many outcomes of the period were moved away, by the name of the other environment.
    moved_here: how many outcomes of the period are in it only because they were moved here, by that name.
    """

    value: int
    total: int
    previous: int
    previous_total: int
    moved_away: Mapping[str, int]
    moved_here: Mapping[str, int]


@dataclass(frozen=True)
class CountWithoutMoves:
    """The outcomes of a period and of the one before, as they would be if no joins had been moved here.

    moved_here: how many of the period are in it only because they were moved here.
    keeps_direction: whether the number rises or falls with the moves as it does without them.
    """

    value: int
    previous: int
    moved_here: int
    keeps_direction: bool


def leave_out_moves(
    totals: tuple[Totals, Totals], moved_counts: tuple[MovedCounts, MovedCounts]
) -> RateWithoutMoves | None:
    """Return the broken rates as they were reported; None if no outcome of the two periods was moved.

    totals, moved_counts: of the period, then of the one before.
    """
    if moved_counts == (NOTHING_MOVED, NOTHING_MOVED):
        return None
    counts = [
        (moves.count_all_broken(part.broken), moves.count_all_reported(part.reported_outcomes))
        for part, moves in zip(totals, moved_counts, strict=True)
    ]
    return RateWithoutMoves(*counts[0], *counts[1], moved_counts[0].total_away, moved_counts[0].added)


def leave_out_moved_here(
    counts: tuple[int, int], moved_counts: tuple[MovedCounts, MovedCounts], keys: Collection[str] | None = None
) -> CountWithoutMoves | None:
    """Return the numbers of outcomes as they were reported.

    Return None if no move changed these numbers.

    counts, moved_counts: of the period, then of the one before.
    keys: the outcome keys that the counts are of; None for all.
    """
    gained = [_sum_of_keys(moves.gained_by_key, keys) for moves in moved_counts]
    moved_here = _sum_of_keys(moved_counts[0].added_by_key, keys)
    if not any(gained) and not moved_here:
        return None
    value, previous = (count - number for count, number in zip(counts, gained, strict=True))
    keeps_direction = _find_sign(value - previous) == _find_sign(counts[0] - counts[1])
    return CountWithoutMoves(value, previous, moved_here, keeps_direction)


def _sum_of_keys(counts: Mapping[str, int], keys: Collection[str] | None) -> int:
    return sum(counts.values()) if keys is None else sum(counts.get(key, 0) for key in keys)


def _find_sign(number: int) -> int:
    return (number > 0) - (number < 0)
