"""Find the tallies that add up to a span of time (pure): days and months (UTC) within, quarter hours at its ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any, NamedTuple

from wire.time.period import QUARTER, Period, ceil_to_quarter, floor_to_quarter

DAY = timedelta(days=1)
LENGTHS = {"q": QUARTER, "d": DAY}


class Segment(NamedTuple):
    """The tallies of one grain ("q", "d" or "m") that start in [start, end)."""

    grain: str
    start: datetime
    end: datetime


def bucket_starts(segment: Segment) -> Iterator[datetime]:
    """Yield when each tally of a segment begins."""
    moment = segment.start
    while moment < segment.end:
        yield moment
        moment = next_month(moment) if segment.grain == "m" else moment + LENGTHS[segment.grain]


def segment_columns(segments: Sequence[Segment]) -> dict[str, Any]:
    """Return segments as the parameters %(grains)s, %(starts)s and %(ends)s of a statement."""
    return {
        "grains": [segment.grain for segment in segments],
        "starts": [segment.start for segment in segments],
        "ends": [segment.end for segment in segments],
    }


def widen_to_quarters(period: Period) -> tuple[datetime, datetime]:
    """Return the ends of a period at quarter hours, so that lists of rows agree with tallies, which are no finer."""
    return floor_to_quarter(period.start), ceil_to_quarter(period.end)


def cover_period(period: Period) -> Sequence[Segment]:
    return cover(period.start, period.end)


def cover(start: datetime, end: datetime) -> Sequence[Segment]:
    """Return at most five segments that make up [start, end), of the coarsest grains that fit.

    Ends within a quarter hour are widened to it, because tallies are no finer.
    """
    start, end = floor_to_quarter(start), ceil_to_quarter(end)
    return [segment for segment in _split_at_days(start, end) if segment.start < segment.end]


def _split_at_days(start: datetime, end: datetime) -> Iterator[Segment]:
    first, last = _next_day(start - timedelta.resolution), floor_to_day(end)
    if first > last:
        yield Segment("q", start, end)
        return
    yield Segment("q", start, first)
    yield from split_at_months(first, last)
    yield Segment("q", last, end)


def split_at_months(start: datetime, end: datetime) -> Iterator[Segment]:
    """Yield the days and months between two midnights; some segments may be empty."""
    first, last = next_month(start - timedelta.resolution), _floor_to_month(end)
    if first > last:
        yield Segment("d", start, end)
        return
    yield Segment("d", start, first)
    yield Segment("m", first, last)
    yield Segment("d", last, end)


def floor_to_day(moment: datetime) -> datetime:
    return datetime.combine(moment.date(), time(), UTC)


def _next_day(moment: datetime) -> datetime:
    return floor_to_day(moment) + DAY


def _floor_to_month(moment: datetime) -> datetime:
    return floor_to_day(moment).replace(day=1)


def next_month(moment: datetime) -> datetime:
    return _floor_to_month(_floor_to_month(moment) + 31 * DAY)
