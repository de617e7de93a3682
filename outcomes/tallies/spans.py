"""Which tallies add up to a span of time (pure): days and months (UTC) within, quarter hours at its ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from wire.period import QUARTER, ceil_to_quarter, floor_to_quarter

DAY = timedelta(days=1)
LENGTHS = {"q": QUARTER, "d": DAY}


class Segment(NamedTuple):
    """The tallies of one grain ("q", "d" or "m") that start in [start, end)."""

    grain: str
    start: datetime
    end: datetime


def starts(segment: Segment) -> Iterator[datetime]:
    """When each of its tallies begins."""
    at = segment.start
    while at < segment.end:
        yield at
        at = next_month(at) if segment.grain == "m" else at + LENGTHS[segment.grain]


def cover(start: datetime, end: datetime) -> Sequence[Segment]:
    """At most five segments that make up [start, end) exactly, of the coarsest grains that fit.

    Ends that lie within a quarter hour are widened to it: tallies are no finer.
    """
    start, end = floor_to_quarter(start), ceil_to_quarter(end)
    return [segment for segment in by_day(start, end) if segment.start < segment.end]


def by_day(start: datetime, end: datetime) -> Iterator[Segment]:
    first, last = next_day(start - timedelta.resolution), day_of(end)
    if first > last:
        yield Segment("q", start, end)
        return
    yield Segment("q", start, first)
    yield from by_month(first, last)
    yield Segment("q", last, end)


def by_month(start: datetime, end: datetime) -> Iterator[Segment]:
    """Both ends are midnights."""
    first, last = next_month(start - timedelta.resolution), month_of(end)
    if first > last:
        yield Segment("d", start, end)
        return
    yield Segment("d", start, first)
    yield Segment("m", first, last)
    yield Segment("d", last, end)


def day_of(at: datetime) -> datetime:
    return datetime.combine(at.date(), time(), UTC)


def next_day(at: datetime) -> datetime:
    return day_of(at) + DAY


def month_of(at: datetime) -> datetime:
    return day_of(at).replace(day=1)


def next_month(at: datetime) -> datetime:
    return month_of(month_of(at) + 31 * DAY)
