"""The time axis of a chart: its formats, the starts of its buckets, and the word on those that are not whole (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from wire.time.buckets import PARTIAL
from wire.time.timestamps import unix_seconds

HOVER_FORMATS = {"hour": "%a %-d %b, %H:%M", "day": "%a %-d %b %Y", "month": "%B %Y"}
TICK_FORMATS = {"hour": "%H:%M\n%a %-d %b", "day": "%a %-d %b", "month": "%b %Y"}


def describe_starts(starts: Iterable[datetime]) -> Mapping[str, Any]:
    """Return the member of a figure's layout that says when its buckets start, so that marks can be placed on them."""
    return {"meta": {"starts": [unix_seconds(start) for start in starts]}}


def name_partial(numbers: Iterable[int]) -> Mapping[str, Any]:
    """Return the member of a figure's layout that writes `partial` on these buckets, whatever ticks its axis shows.

    The word is turned by 90 degrees and runs along the left edge of a bucket, so that it fits on the narrowest one.
    """
    position = {"xref": "x", "yref": "paper", "y": 1, "xanchor": "left", "yanchor": "top"}
    font = {"size": 10, "color": "var(--ink)"}
    word = {**position, "text": PARTIAL, "textangle": -90, "showarrow": False, "font": font}
    return {"annotations": [{**word, "x": number - 0.5} for number in numbers]}


def describe_time_axis(step: str) -> Mapping[str, Any]:
    """Return a figure's axis of hours, days or months, with the formats of its ticks and of a hovered point."""
    return {"type": "date", "hoverformat": HOVER_FORMATS[step], "tickformat": TICK_FORMATS[step]}
