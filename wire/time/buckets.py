"""The hours, days or months of a zone that a chart shows; `Period.step` chooses which (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Protocol
from zoneinfo import ZoneInfo

HOUR = timedelta(hours=1)
PARTIAL = "partial"  # the end of the label of a bucket that is not whole
LONGEST_STEP = timedelta(days=32)  # longer than any month


@dataclass(frozen=True)
class Bucket:
    """The span [start, end) in UTC, and its name on the chart's axis.

    is_partial: whether its hour, day or month has begun and is not over, or begins before the span that was split.
    has_begun: whether it begins at the present or before. One that has not may have numbers: clocks can be ahead.
    """

    start: datetime
    end: datetime
    label: str
    is_partial: bool = False
    has_begun: bool = True


def split_into_buckets(
    start: datetime, end: datetime, zone: ZoneInfo, step: str, *, elapsed_until: datetime | None = None
) -> Sequence[Bucket]:
    """Split [start, end) at the zone's own hours, days or months; the first and the last may be cut short.

    elapsed_until: the present, by default the end.

    A bucket is partial if its hour, day or month has begun and ends after `elapsed_until`. The first one is partial,
    too, if its hour, day or month begins before the start.

    A day has 23 or 25 hours if summer time begins or ends on it. If an hour repeats, both are labelled with the zone's
    abbreviation.
    """
    edges = [start, *(edge for edge in ITERATORS[step](start, end, zone) if start < edge < end), end]
    spans = [(since, till) for since, till in pairwise(edges) if since < till]
    buckets = [Bucket(since, till, format_label(since, zone, step)) for since, till in spans]
    if buckets and find_bucket_start(start, zone, step) < start:
        buckets[0] = mark_partial(buckets[0])
    return [_mark_if_current(bucket, elapsed_until or end, zone, step) for bucket in buckets]


class HasBegun(Protocol):
    """A bucket of a chart, whatever it counts."""

    @property
    def has_begun(self) -> bool: ...


def show_numbers(buckets: Sequence[HasBegun], numbers: Sequence[int]) -> list[int | None]:
    """Return one number for each bucket; None in place of 0 for a bucket that has not begun."""
    return [number if number or bucket.has_begun else None for bucket, number in zip(buckets, numbers, strict=True)]


def find_bucket_start(moment: datetime, zone: ZoneInfo, step: str) -> datetime:
    """Return the start of the local hour, day or month of a moment.

    The start of an hour is computed in UTC, because a local hour can repeat. If clocks change by half an hour, an hour
    of the chart begins at that moment.
    """
    local = moment.astimezone(zone)
    if step == "hour":
        since_full_hour = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        full_hour = moment.astimezone(UTC) - since_full_hour
        return max(edge for edge in (full_hour, *iterate_hours(full_hour, moment, zone)) if edge <= moment)
    day: date = local.date().replace(day=1) if step == "month" else local.date()
    return find_midnight(day, zone)


def mark_partial(bucket: Bucket) -> Bucket:
    """Return a bucket whose name says that it does not count its whole hour, day or month."""
    return bucket if bucket.is_partial else replace(bucket, label=f"{bucket.label}, {PARTIAL}", is_partial=True)


def _mark_if_current(bucket: Bucket, elapsed_until: datetime, zone: ZoneInfo, step: str) -> Bucket:
    """Mark a bucket as partial if its hour, day or month ends after `elapsed_until`: today is not over."""
    if bucket.end < elapsed_until:
        return bucket
    if bucket.start > elapsed_until:
        return replace(bucket, has_begun=False)
    iterate = ITERATORS[step]
    whole_end = next(edge for edge in iterate(bucket.start, bucket.start + LONGEST_STEP, zone) if edge > bucket.start)
    if whole_end <= elapsed_until:
        return bucket
    return mark_partial(bucket)


def iterate_hours(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield the moments after `start` at which the zone's clocks show a full hour."""
    moment = start.astimezone(UTC)
    while moment < end:
        moment += HOUR - timedelta(minutes=moment.astimezone(zone).minute)
        yield moment


def iterate_days(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    day = start.astimezone(zone).date()
    while (midnight := find_midnight(day, zone)) < end:
        yield midnight
        day += timedelta(days=1)


def iterate_months(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    day = start.astimezone(zone).date().replace(day=1)
    while (midnight := find_midnight(day, zone)) < end:
        yield midnight
        day = (day + timedelta(days=31)).replace(day=1)


ITERATORS = {"hour": iterate_hours, "day": iterate_days, "month": iterate_months}


def find_midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return the first moment of a local day, even if its clocks skip or repeat midnight."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def is_midnight(local: datetime, zone: ZoneInfo) -> bool:
    """Return whether the local day begins at this moment, which is 01:00 if the zone's clocks skip midnight."""
    return local.astimezone(UTC) == find_midnight(local.date(), zone)


def format_label(moment: datetime, zone: ZoneInfo, step: str) -> str:
    local_time = moment.astimezone(zone)
    if step == "hour":
        is_ambiguous = local_time.utcoffset() != local_time.replace(fold=1 - local_time.fold).utcoffset()
        return f"{local_time:%a %-d %b %H:%M}" + (f" {local_time:%Z}" if is_ambiguous else "")
    return f"{local_time:%a %-d %b %Y}" if step == "day" else f"{local_time:%b %Y}"
