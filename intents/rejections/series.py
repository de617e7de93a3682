"""Tallies laid out along time: one bucket after the other, none left out (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from intents.reports.tally import is_rejection
from wire import time_buckets as along_time
from wire.period import Period


@dataclass(frozen=True)
class Bucket:
    """A local hour, day or month. start: its first moment, in the zone of the range; counts: by result."""

    start: datetime
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def verifications(self) -> int:
        return self.counts.total()

    @property
    def rejections(self) -> int:
        return sum(count for result, count in self.counts.items() if is_rejection(result))


def buckets(period: Period, counted: Iterable[tuple[datetime, str, int]]) -> Sequence[Bucket]:
    """Every bucket of the range, the first one whole; for the preset `all`, from the first that counted something.

    counted: (any moment of the bucket, result, count).
    """
    counts = list(counted)
    first = min((moment for moment, _, _ in counts), default=period.end) if period.preset == "all" else period.start
    if first >= period.end:
        return []
    shown = along_time.split_into_buckets(bucket_start(first, period), period.end, period.zone, period.step)
    starts = [bucket.start for bucket in shown]
    found = [Bucket(start.astimezone(period.zone)) for start in starts]
    for moment, result, count in counts:
        found[bisect_right(starts, moment) - 1].counts[result] += count
    return found


def bucket_start(moment: datetime, period: Period) -> datetime:
    """The first moment of the local hour, day or month that holds `moment`; in UTC: no hour comes twice."""
    local = moment.astimezone(period.zone)
    if period.step == "hour":
        into = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        return moment.astimezone(UTC) - into
    day: date = local.date().replace(day=1) if period.step == "month" else local.date()
    return along_time.find_midnight(day, period.zone)
