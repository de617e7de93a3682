"""Which tallies the buckets of a chart are put together from (pure): each read once, however many buckets use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from outcomes.tally import DAY, Segment, by_month, ceiled, cover, day_of, floored, next_month
from wire.buckets import Bucket


class Part(NamedTuple):
    """A sum that is read: of quarter hours from `start` to `end`, or of the one day or month that starts then."""

    grain: str
    start: datetime
    end: datetime | None = None


@dataclass(frozen=True)
class Parts:
    """The segments to read, and for each part of them which buckets use it, each to add (1) or take away (-1) it."""

    segments: Sequence[Segment]
    uses: Mapping[Part, Sequence[tuple[int, int]]]

    @classmethod
    @lru_cache(maxsize=16)  # the charts of one page share their buckets, and a year of days takes milliseconds
    def of(cls, buckets: tuple[Bucket, ...]) -> Parts:
        segments: set[Segment] = set()
        uses: dict[Part, list[tuple[int, int]]] = {}
        for position, bucket in enumerate(buckets):
            for sign, segment in composed(bucket.start, bucket.end):
                segments.add(segment)
                for part in parts_of(segment):
                    uses.setdefault(part, []).append((position, sign))
        return cls(joined(segments), uses)


def composed(start: datetime, end: datetime) -> Sequence[tuple[int, Segment]]:
    """Segments that make up [start, end) with few tallies, each to be added (1) or taken away again (-1).

    An end nearer to the midnight outside takes that whole day and gives the rest of it back: of a day of another
    zone no more than 48 quarter hours are read at either end, and its neighbour reads the same ones.
    """
    start, end = floored(start), ceiled(end)
    if end - start < DAY / 2:
        return [(1, segment) for segment in cover(start, end)]
    first, last = nearest_midnight(start), nearest_midnight(end)
    ends = [(1, Segment("q", start, first)), (-1, Segment("q", first, start))]
    ends += [(1, Segment("q", last, end)), (-1, Segment("q", end, last))]
    parts = [*ends, *((1, segment) for segment in by_month(first, last))]
    return [(sign, segment) for sign, segment in parts if segment.start < segment.end]


def nearest_midnight(at: datetime) -> datetime:
    return day_of(at + DAY / 2)


def parts_of(segment: Segment) -> Iterator[Part]:
    if segment.grain == "q":
        yield Part(*segment)
        return
    at = segment.start
    while at < segment.end:
        yield Part(segment.grain, at)
        at = at + DAY if segment.grain == "d" else next_month(at)


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
