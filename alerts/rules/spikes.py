"""Jumps of a share: of rejections among verifications, or of broken joins among reported outcomes (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from math import isclose
from typing import NamedTuple

from alerts.rules.happenings import Happening, Measure
from alerts.rules.thresholds import Thresholds
from wire.time.period import QUARTER, ceil_to_quarter, floor_to_quarter

BASELINE = timedelta(days=7)  # the usual share is that of the days before the current span
SHORTEST_GAP = timedelta(hours=1)  # two jumps that are closer count as one
SUBJECT = "share"


class Share(NamedTuple):
    """A share of cases (rejections, broken joins) in the total (all verifications, reported outcomes)."""

    cases: int
    total: int

    @property
    def rate(self) -> float:
        return self.cases / self.total if self.total > 0 else 0.0


def choose_gap(thresholds: Thresholds) -> timedelta:
    """Return the time within which two jumps count as one."""
    return max(thresholds.length, SHORTEST_GAP)


def choose_history(thresholds: Thresholds) -> timedelta:
    """Return the length of the history that decides whether a jump begins at a moment."""
    return BASELINE + thresholds.length + choose_gap(thresholds)


def is_jump(current: Share, usual: Share, thresholds: Thresholds) -> bool:
    """Return whether a share has enough cases, is high enough, and is much higher than usual.

    If the usual share is 0, the first two conditions are enough.
    """
    return (
        current.cases >= thresholds.minimum
        and _reaches(current.rate * 100, thresholds.percent)
        and _reaches(current.rate, thresholds.factor * usual.rate)
    )


def _reaches(value: float, threshold: float) -> bool:
    """Return whether a value is at its threshold or above. 29 of 100 in percent is a little less than 29 in floats."""
    return value >= threshold or isclose(value, threshold)


def find_spikes(
    quarters: Mapping[datetime, Share], thresholds: Thresholds, *, since: datetime, until: datetime
) -> Iterator[Happening]:
    """Yield the jumps that begin in [since, until], each once however long it lasts.

    quarters: shares by the start of their quarter hour. They begin `choose_history(thresholds)` before `since`.
        Quarter hours without data may be missing.

    At every quarter hour, the share of the last `thresholds.minutes` is compared with the share of the 7 days before
    them.
    """
    sums = _Sums.of(quarters)
    gap = choose_gap(thresholds)
    first: datetime | None = None
    last = moment = ceil_to_quarter(since) - gap
    peak = usual = Share(0, 0)
    while moment <= until:
        start = moment - thresholds.length
        current = sums.between(start, moment)
        if is_jump(current, usual_now := sums.between(start - BASELINE, start), thresholds):
            if first is None or moment - last >= gap:
                if first is not None:
                    yield from _build_happening(first, last, last, peak, usual, gap, since)
                first, peak, usual = moment, current, usual_now
            peak, last = max(peak, current, key=lambda share: share.rate), moment
        moment += QUARTER
    if first is not None:
        end = last if floor_to_quarter(until) - last >= QUARTER else None
        yield from _build_happening(first, last, end, peak, usual, gap, since)


def measure_cases(
    quarters: Mapping[datetime, Share], thresholds: Thresholds, *, since: datetime, until: datetime
) -> Iterator[Measure]:
    """Yield the cases of the last `thresholds.minutes` and both shares at every quarter hour in [since, until]."""
    sums = _Sums.of(quarters)
    moment = ceil_to_quarter(since)
    while moment <= until:
        start = moment - thresholds.length
        current, usual = sums.between(start, moment), sums.between(start - BASELINE, start)
        yield Measure(moment, current.cases, current.rate, usual.rate)
        moment += QUARTER


def _build_happening(
    fires_at: datetime,
    last: datetime,
    until: datetime | None,
    peak: Share,
    usual: Share,
    gap: timedelta,
    since: datetime,
) -> Iterator[Happening]:
    if fires_at >= since:
        # Four significant digits, so that a very small share is not 0.
        shares = {name: float(f"{share.rate:.4g}") for name, share in (("share", peak), ("usual", usual))}
        facts = {"count": peak.cases, "of": peak.total, **shares}
        yield Happening(SUBJECT, fires_at, gap, until, last, facts)


@dataclass(frozen=True)
class _Sums:
    """Running sums by time, so that the share of any span takes two look-ups."""

    starts: Sequence[datetime]
    cases: Sequence[int]
    totals: Sequence[int]

    @classmethod
    def of(cls, quarters: Mapping[datetime, Share]) -> _Sums:
        starts = sorted(quarters)
        shares = [quarters[start] for start in starts]
        cases = [0, *accumulate(share.cases for share in shares)]
        return cls(starts, cases, [0, *accumulate(share.total for share in shares)])

    def between(self, start: datetime, end: datetime) -> Share:
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
        return Share(self.cases[last] - self.cases[first], self.totals[last] - self.totals[first])
