"""How long after its conversation began an outcome was first reported: the distribution (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

# Each begins where the one before it ends; a report may precede the start that was registered.
BARS = (
    (None, "before the start"),
    (timedelta(0), "under 1 min"),
    (timedelta(minutes=1), "1 to 5 min"),
    (timedelta(minutes=5), "5 to 15 min"),
    (timedelta(minutes=15), "15 to 60 min"),
    (timedelta(hours=1), "1 to 6 h"),
    (timedelta(hours=6), "6 to 24 h"),
    (timedelta(days=1), "1 to 7 days"),
    (timedelta(days=7), "7 to 30 days"),
    (timedelta(days=30), "over 30 days"),
)
EDGES = [least for least, _ in BARS if least is not None]


@dataclass(frozen=True)
class Bar:
    """How many lags are at least `least` (None: negative ones) and less than the next bar's."""

    least: timedelta | None
    label: str
    count: int


@dataclass(frozen=True)
class Distribution:
    bars: Sequence[Bar]
    count: int
    median: timedelta | None

    @property
    def shown(self) -> Sequence[Bar]:
        """Without the bar of what cannot be, where nothing is in it."""
        return self.bars if self.bars[0].count else self.bars[1:]


def distribution(lags: Sequence[timedelta]) -> Distribution:
    counts = [0] * len(BARS)
    for lag in lags:
        counts[bisect_right(EDGES, lag)] += 1
    bars = [Bar(least, label, count) for (least, label), count in zip(BARS, counts, strict=True)]
    return Distribution(bars, len(lags), median(lags) if lags else None)
