"""Plan which tallies a chart reads (pure): each tally once, however many buckets use it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from wire.tallies.spans import DAY, Segment, bucket_starts, cover, floor_to_day, split_at_months
from wire.time.buckets import Bucket
from wire.time.period import ceil_to_quarter, floor_to_quarter


@dataclass(frozen=True)
class ReadPlan:
    """The segments to read, and how the sums read from them make up the buckets.

    A segment of quarter hours is read as one sum; a segment of days or months as one sum for each day or month.

    uses: for each sum, the buckets that use it, as (number of the bucket, 1 to add or -1 to subtract).

    A sum is named by (number of its segment, its start in Unix seconds). Names are numbers for speed: a chart
    reads thousands of sums.
    """

    segments: Sequence[Segment]
    uses: Mapping[tuple[int, int], Sequence[tuple[int, int]]]


@lru_cache(maxsize=16)  # the charts of one page share their buckets, and to plan a year by days costs milliseconds
def plan_reads(buckets: tuple[Bucket, ...]) -> ReadPlan:
    """Return the sums to read for these buckets, each sum once."""
    uses: dict[Segment, list[tuple[int, int]]] = {}
    for bucket_number, bucket in enumerate(buckets):
        for sign, segment in _compose_span(bucket.start, bucket.end):
            for part in _split_into_sums(segment):
                uses.setdefault(part, []).append((bucket_number, sign))
    segments = _join_neighbours(uses)
    sums = [(number, part) for number, segment in enumerate(segments) for part in _split_into_sums(segment)]
    return ReadPlan(segments, {(number, int(part.start.timestamp())): uses[part] for number, part in sums})


def _compose_span(start: datetime, end: datetime) -> Sequence[tuple[int, Segment]]:
    """Return segments that make up [start, end) with few tallies, each to be added (1) or subtracted (-1).

    If an end is nearer to the midnight outside the span, the whole day is added and the surplus subtracted. So a day of
    another time zone reads at most 48 quarter hours at either end, and shares them with the day next to it.
    """
    start, end = floor_to_quarter(start), ceil_to_quarter(end)
    if end - start < DAY / 2:
        return [(1, segment) for segment in cover(start, end)]
    first, last = _nearest_midnight(start), _nearest_midnight(end)
    ends = [(1, Segment("q", start, first)), (-1, Segment("q", first, start))]
    ends += [(1, Segment("q", last, end)), (-1, Segment("q", end, last))]
    terms = [*ends, *((1, segment) for segment in split_at_months(first, last))]
    return [(sign, segment) for sign, segment in terms if segment.start < segment.end]


def _nearest_midnight(moment: datetime) -> datetime:
    return floor_to_day(moment + DAY / 2)


def _split_into_sums(segment: Segment) -> Sequence[Segment]:
    """Return the spans that are summed separately: all quarter hours together, each day or month by itself."""
    if segment.grain == "q":
        return [segment]
    edges = [*bucket_starts(segment), segment.end]
    return [Segment(segment.grain, start, end) for start, end in pairwise(edges)]


def _join_neighbours(segments: Iterable[Segment]) -> Sequence[Segment]:
    """Join days and months that follow each other, so that they are read in one go."""
    runs: list[Segment] = []
    for segment in sorted(segments):
        last = runs[-1] if runs else None
        if last and segment.grain != "q" and (last.grain, last.end) == (segment.grain, segment.start):
            runs[-1] = last._replace(end=segment.end)
        else:
            runs.append(segment)
    return runs
