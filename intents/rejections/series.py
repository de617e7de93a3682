"""Tallies over time, in buckets without gaps (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from intents.rejections.filters import is_rejection
from wire.period import Period
from wire.time_buckets import find_midnight, split_into_buckets


@dataclass(frozen=True)
class ResultBucket:
    """A local hour, day or month. start: its first moment, in the period's zone; counts: by result."""

    start: datetime
    counts: Counter[str] = field(default_factory=Counter)
    is_partial: bool = False

    @property
    def verifications(self) -> int:
        """All verifications, accepted or not."""
        return self.counts.total()

    @property
    def rejections(self) -> int:
        """The rejections with a reason that the filter shows."""
        return sum(count for result, count in self.counts.items() if is_rejection(result))


def build_buckets(period: Period, counts: Iterable[tuple[datetime, str, int]]) -> Sequence[ResultBucket]:
    """Return every bucket of the period, the first one whole; for the preset `all`, from the first count on.

    counts: (any moment of the bucket, result, count).
    """
    counts = list(counts)
    first = min((moment for moment, _, _ in counts), default=period.end) if period.preset == "all" else period.start
    if first >= period.end:
        return []
    time_buckets = split_into_buckets(
        find_bucket_start(first, period), period.end, period.zone, period.step, elapsed_until=period.elapsed_until
    )
    starts = [bucket.start for bucket in time_buckets]
    buckets = [
        ResultBucket(bucket.start.astimezone(period.zone), is_partial=bucket.is_partial) for bucket in time_buckets
    ]
    for moment, result, count in counts:
        buckets[bisect_right(starts, moment) - 1].counts[result] += count
    return buckets


def find_bucket_start(moment: datetime, period: Period) -> datetime:
    """Return the start of the local hour, day or month of `moment`; of an hour in UTC, as local hours can repeat."""
    local = moment.astimezone(period.zone)
    if period.step == "hour":
        since_start = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        return moment.astimezone(UTC) - since_start
    day: date = local.date().replace(day=1) if period.step == "month" else local.date()
    return find_midnight(day, period.zone)
