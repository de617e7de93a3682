"""Place events on the buckets of a chart: one mark for each bucket that has events, however many (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

ANNOTATION, COMPATIBLE, DRIFT = "annotation", "compatible", "drift"
KINDS = (DRIFT, COMPATIBLE, ANNOTATION)  # of events, the most severe first
MAX_TEXTS = 5  # shown by a mark when the pointer is over it


@dataclass(frozen=True)
class ChartEvent:
    """Something that happened at a moment.

    url: the address that it leads to, empty for none.
    kind: ANNOTATION, DRIFT for breaking drift, or COMPATIBLE for drift that breaks nobody.
    """

    at: datetime
    text: str
    url: str = ""
    kind: str = ANNOTATION


@dataclass(frozen=True)
class Mark:
    """The events within one bucket of a chart, the earliest first.

    bucket: the number of the bucket, from 0.
    """

    bucket: int
    events: Sequence[ChartEvent]

    @property
    def kind(self) -> str:
        """Return the most severe kind of the events."""
        return min((event.kind for event in self.events), key=KINDS.index)

    @property
    def texts(self) -> Sequence[str]:
        """Return the first texts, and the number of the others."""
        texts = [event.text for event in self.events]
        if len(texts) <= MAX_TEXTS:
            return texts
        return [*texts[: MAX_TEXTS - 1], f"and {len(texts) - MAX_TEXTS + 1:,} more"]

    @property
    def note(self) -> str:
        """Return the text of the first annotation, which a chart shows beside its mark; "" if there is none."""
        return next((event.text for event in self.events if event.kind == ANNOTATION), "")

    def as_json(self) -> Mapping[str, Any]:
        count = len(self.events)
        return {"bucket": self.bucket, "kind": self.kind, "count": count, "note": self.note, "texts": self.texts}


def place_marks(starts: Sequence[int], events: Iterable[ChartEvent]) -> Sequence[Mark]:
    """Return a mark for each bucket in which something happened. Events before the first bucket have none.

    starts: the starts of the buckets in Unix seconds, in order.
    """
    by_bucket: dict[int, list[ChartEvent]] = {}
    for event in sorted(events, key=lambda item: item.at):
        bucket = bisect_right(starts, event.at.timestamp()) - 1
        if bucket >= 0:
            by_bucket.setdefault(bucket, []).append(event)
    return [Mark(bucket, group) for bucket, group in sorted(by_bucket.items())]
