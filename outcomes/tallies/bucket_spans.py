"""Which tallies the buckets of a chart are put together from (pure): each read once, however many buckets use it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from outcomes.tallies.spans import DAY, Segment, by_month, cover, day_of, starts
from wire.period import ceil_to_quarter, floor_to_quarter
from wire.time_buckets import Bucket


class Part(NamedTuple):
    """A sum that is read: all quarter hours of a segment, or its one day or month that starts then.

    segment: the place of the segment; start: seconds since 1970. Numbers only: a chart reads thousands of parts.
    """

    segment: int
    start: int


@dataclass(frozen=True)
class Parts:
    """The segments to read, and for each part of them which buckets use it, each to add (1) or take away (-1) it."""

    segments: Sequence[Segment]
    uses: Mapping[Part, Sequence[tuple[int, int]]]

    @classmethod
    @lru_cache(maxsize=16)  # the charts of one page share their buckets, and a year of days takes milliseconds
    def of(cls, buckets: tuple[Bucket, ...]) -> Parts:
        uses: dict[Segment, list[tuple[int, int]]] = {}
        for position, bucket in enumerate(buckets):
            for sign, segment in composed(bucket.start, bucket.end):
                for term in sums_of(segment):
                    uses.setdefault(term, []).append((position, sign))
        segments = joined(uses)
        read = [(number, term) for number, segment in enumerate(segments) for term in sums_of(segment)]
        return cls(segments, {Part(number, int(term.start.timestamp())): uses[term] for number, term in read})


def composed(start: datetime, end: datetime) -> Sequence[tuple[int, Segment]]:
    """Segments that make up [start, end) with few tallies, each to be added (1) or taken away again (-1).

    An end nearer to the midnight outside takes that whole day and gives the rest of it back: of a day of another
    zone no more than 48 quarter hours are read at either end, and its neighbour reads the same ones.
    """
    start, end = floor_to_quarter(start), ceil_to_quarter(end)
    if end - start < DAY / 2:
        return [(1, segment) for segment in cover(start, end)]
    first, last = nearest_midnight(start), nearest_midnight(end)
    ends = [(1, Segment("q", start, first)), (-1, Segment("q", first, start))]
    ends += [(1, Segment("q", last, end)), (-1, Segment("q", end, last))]
    parts = [*ends, *((1, segment) for segment in by_month(first, last))]
    return [(sign, segment) for sign, segment in parts if segment.start < segment.end]


def nearest_midnight(at: datetime) -> datetime:
    return day_of(at + DAY / 2)


def sums_of(segment: Segment) -> Sequence[Segment]:
    """What is told apart of a segment: quarter hours together, each day or month by itself."""
    if segment.grain == "q":
        return [segment]
    edges = [*starts(segment), segment.end]
    return [Segment(segment.grain, start, end) for start, end in pairwise(edges)]


def joined(segments: Iterable[Segment]) -> Sequence[Segment]:
    """Days and months that follow each other are read in one go."""
    runs: list[Segment] = []
    for segment in sorted(segments):
        last = runs[-1] if runs else None
        if last and segment.grain != "q" and (last.grain, last.end) == (segment.grain, segment.start):
            runs[-1] = last._replace(end=segment.end)
        else:
            runs.append(segment)
    return runs
