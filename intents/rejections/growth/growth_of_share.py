"""Reasons of rejections whose share of all verifications grew (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intents.rejections.filters import is_rejection
from intents.rejections.growth.new_reason import NEW_REASON_MINIMUM
from wire.significance import is_within_chance


@dataclass(frozen=True)
class Growth:
    """The growth of the rejections' share of all verifications from an earlier span to a later one.

    reason: the reason of the rejections; "" for all reasons.
    count, total: the rejections and the verifications of the later span.
    previous_count, previous_total: those of the earlier span.
    """

    reason: str
    count: int
    previous_count: int
    total: int
    previous_total: int

    @property
    def points(self) -> float:
        """Return by how many percentage points their share grew."""
        return 100 * (self.count / self.total - self.previous_count / self.previous_total)

    @property
    def is_within_chance(self) -> bool:
        """Return whether chance alone often makes samples of these sizes differ so much.

        It is always True for few rejections.
        """
        is_rare = self.count < NEW_REASON_MINIMUM
        return is_rare or is_within_chance(self.count, self.total, self.previous_count, self.previous_total)


def find_reason_growth(counts: Mapping[str, int], previous_counts: Mapping[str, int]) -> Growth | None:
    """Return the reason whose share of all verifications grew most, of those that grew by more than chance.

    If no single reason did, but all rejections together did, return the reason that grew most, even if that may be
    chance. None if there is none, or if several grew alike.

    counts, previous_counts: the verifications of two spans by result, accepted or not. The spans may differ in length.
    """
    totals = sum(counts.values()), sum(previous_counts.values())
    if not all(totals):
        return None
    growths = [
        Growth(result, count, previous_counts.get(result, 0), *totals)
        for result, count in counts.items()
        if is_rejection(result)
    ]
    growths = [growth for growth in growths if growth.points > 0]
    beyond_chance = [growth for growth in growths if not growth.is_within_chance]
    whole = Growth("", _count_rejections(counts), _count_rejections(previous_counts), *totals)
    if whole.points > 0 and not whole.is_within_chance:
        beyond_chance = beyond_chance or growths
    most = max((growth.points for growth in beyond_chance), default=0)
    leading = [growth for growth in beyond_chance if growth.points == most]
    return leading[0] if len(leading) == 1 else None


def _count_rejections(counts: Mapping[str, int]) -> int:
    return sum(count for result, count in counts.items() if is_rejection(result))
