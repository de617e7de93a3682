"""Tallies laid out along time: one bucket after the other, none left out (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from intents.tally import is_rejection
from wire.ranges import QUARTER, Range


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


def buckets(range: Range, counted: Iterable[tuple[datetime, str, int]]) -> Sequence[Bucket]:
    """Every bucket of the range; for the preset `all`, from the first that counted something.

    counted: (any moment of the bucket, result, count).
    """
    sums: dict[datetime, Counter[str]] = {}
    for moment, result, count in counted:
        sums.setdefault(bucket_start(moment, range), Counter())[result] += count
    first = min(sums, default=range.end) if range.preset == "all" else range.start
    return [Bucket(each.astimezone(range.zone), sums.get(each, Counter())) for each in starts(first, range)]


def starts(first: datetime, range: Range) -> Iterable[datetime]:
    """The start of each bucket that touches [first, the end of the range), in UTC."""
    moments = quarters(first, range.end) if range.step == "hour" else noons(first, range)
    return dict.fromkeys(bucket_start(moment, range) for moment in moments)


def quarters(first: datetime, end: datetime) -> Iterator[datetime]:
    while first < end:
        yield first
        first += QUARTER


def noons(first: datetime, range: Range) -> Iterator[datetime]:
    """One moment of each local day; a day may lack its midnight, hardly its noon."""
    last = (range.end - timedelta(microseconds=1)).astimezone(range.zone).date()
    day = first.astimezone(range.zone).date()
    while day <= last:
        yield datetime.combine(day, time(12), range.zone)
        day += timedelta(days=1)


def bucket_start(moment: datetime, range: Range) -> datetime:
    """The first moment of the local hour, day or month that holds `moment`; in UTC: no hour comes twice."""
    local = moment.astimezone(range.zone)
    if range.step == "hour":
        into = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        return moment.astimezone(UTC) - into
    day: date = local.date().replace(day=1) if range.step == "month" else local.date()
    return datetime.combine(day, time(), range.zone).astimezone(UTC)
