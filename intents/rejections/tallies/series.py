"""Tallies over time, in buckets without gaps (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from intents.rejections.filters import is_rejection
from wire.time.buckets import Bucket, split_into_buckets
from wire.time.period import Period


@dataclass(frozen=True)
class ResultBucket:
    """The verifications of a local hour, day or month.

    start: its first moment, in the period's zone.
    label: its name on the chart's axis.
    counts: the numbers of verifications by result, as `narrow_result` narrows it to the filtered reason.
    """

    start: datetime
    counts: Counter[str] = field(default_factory=Counter)
    is_partial: bool = False
    label: str = ""
    has_begun: bool = True

    @property
    def verifications(self) -> int:
        """Return the number of verifications, accepted or not."""
        return self.counts.total()

    @property
    def rejections(self) -> int:
        """Return the number of rejections; if the page is filtered by a reason, of those with this reason."""
        return sum(count for result, count in self.counts.items() if is_rejection(result))


def split_period(period: Period) -> Sequence[Bucket]:
    """Return the buckets of the chart, which begin with the period, as those of outcomes do."""
    return split_into_buckets(period.start, period.end, period.zone, period.step, elapsed_until=period.elapsed_until)


def build_buckets(period: Period, counts: Iterable[tuple[datetime, str, int]]) -> Sequence[ResultBucket]:
    """Return every bucket of the period; the first is partial if its hour, day or month begins before the period.

    counts: tuples of a moment in a bucket, a result and a count.
    """
    if period.start >= period.end:
        return []
    time_buckets = split_period(period)
    starts = [bucket.start for bucket in time_buckets]
    buckets = [
        ResultBucket(
            bucket.start.astimezone(period.zone),
            is_partial=bucket.is_partial,
            label=bucket.label,
            has_begun=bucket.has_begun,
        )
        for bucket in time_buckets
    ]
    for moment, result, count in counts:
        buckets[bisect_right(starts, moment) - 1].counts[result] += count
    return buckets
