"""The hours, days or months of a zone that a chart shows (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Bucket:
    """[start, end) in UTC, and how the chart's axis names it."""

    start: datetime
    end: datetime
    label: str


def buckets(start: datetime, end: datetime, zone: ZoneInfo, step: str) -> Sequence[Bucket]:
    """Split [start, end) at the zone's own hours, days or months; the first and the last may be cut short.

    Right across changes of summer time: a day may have 23 or 25 hours, and of two hours of one name each is
    named with its zone's abbreviation.
    """
    turns = {"hour": hours, "day": days, "month": months}[step](start, end, zone)
    edges = [start, *(turn for turn in turns if start < turn < end), end]
    pairs = [(first, last) for first, last in pairwise(edges) if first < last]
    return [Bucket(first, last, label(first, zone, step)) for first, last in pairs]


def hours(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """The moments from `start` on at which the zone's clocks show a full hour."""
    at = start.astimezone(UTC)
    while at < end:
        at += HOUR - timedelta(minutes=at.astimezone(zone).minute)
        yield at


def days(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    day = start.astimezone(zone).date()
    while (midnight := midnight_of(day, zone)) < end:
        yield midnight
        day += timedelta(days=1)


def months(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    day = start.astimezone(zone).date().replace(day=1)
    while (midnight := midnight_of(day, zone)) < end:
        yield midnight
        day = (day + timedelta(days=31)).replace(day=1)


def midnight_of(day: date, zone: ZoneInfo) -> datetime:
    """The first moment of a local day, also where its clocks skip or repeat midnight."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def label(at: datetime, zone: ZoneInfo, step: str) -> str:
    local = at.astimezone(zone)
    if step == "hour":
        repeated = local.utcoffset() != local.replace(fold=1 - local.fold).utcoffset()
        return f"{local:%a %-d %b %H:%M}" + (f" {local:%Z}" if repeated else "")
    return f"{local:%a %-d %b %Y}" if step == "day" else f"{local:%b %Y}"
