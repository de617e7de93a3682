"""The distribution of lags (pure): the time from a conversation's start to the first report of its outcome."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

MAX_LAGS = 2000  # lags are shown for this many of the latest outcomes

# Each range ends where the next one begins; a report may precede the start that was registered.
LAG_RANGES = (
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
EDGES = [least for least, _ in LAG_RANGES if least is not None]


@dataclass(frozen=True)
class LagBar:
    """A bar of the lags from `least` up to the next bar.

    least: None for the bar of negative lags.
    """

    least: timedelta | None
    label: str
    count: int


@dataclass(frozen=True)
class LagDistribution:
    bars: Sequence[LagBar]
    lags: Sequence[timedelta]

    @property
    def count(self) -> int:
        return len(self.lags)

    @property
    def median(self) -> timedelta | None:
        return median_length(self.lags)

    @property
    def early_count(self) -> int:
        """Return how many outcomes were first reported before the start of their conversation."""
        return self.bars[0].count

    @property
    def visible_bars(self) -> Sequence[LagBar]:
        """Return the bars, without the bar of negative lags if it is empty, and without empty bars at the end.

        Without any lag, return all bars but that of negative lags.
        """
        last = max((number for number, bar in enumerate(self.bars) if bar.count), default=len(self.bars) - 1)
        return self.bars[0 if self.bars[0].count else 1 : last + 1]

    def estimate_pending(self, oldest: timedelta, newest: timedelta) -> float:
        """Estimate what share of the outcomes of some conversations is still to come, 0 to 1, by these lags.

        oldest, newest: the ages of the first and the last of these conversations; the others started at an even rate in
            between.
        """
        return estimate_pending(self.lags, oldest, newest)


def estimate_pending(lags: Sequence[timedelta], oldest: timedelta, newest: timedelta) -> float:
    """Estimate what share of results is still to come, 0 to 1, if each case has a result after a lag such as these.

    lags: how long earlier results took.
    oldest, newest: the ages of the first and the last case; the other cases began at an even rate in between.
    """
    if not lags or oldest <= newest:
        return 0.0
    longer = (lag for lag in lags if lag > newest)
    return sum((min(lag, oldest) - newest) / (oldest - newest) for lag in longer) / len(lags)


def count_lags(lags: Sequence[timedelta]) -> LagDistribution:
    counts = [0] * len(LAG_RANGES)
    for lag in lags:
        counts[bisect_right(EDGES, lag)] += 1
    bars = [LagBar(least, label, count) for (least, label), count in zip(LAG_RANGES, counts, strict=True)]
    return LagDistribution(bars, lags)


def median_length(lengths: Sequence[timedelta]) -> timedelta | None:
    """Return the median, exact to the microsecond; None if there is none."""
    microsecond = timedelta.resolution
    return median([length // microsecond for length in lengths]) * microsecond if lengths else None
