"""Figures of the outcomes pages as dicts for plotly.js, and what they show in words (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outcomes.buckets import Bucket

MARKERS_UP_TO = 62  # buckets; beyond, points would hide the line
TICKS = 8
REST = "all other keys"


@dataclass(frozen=True)
class Line:
    """One number for each bucket; `key` is None for all keys that have no line of their own."""

    key: str | None
    numbers: Sequence[int]

    @property
    def name(self) -> str:
        return REST if self.key is None else self.key

    @property
    def total(self) -> int:
        return sum(self.numbers)


def over_time(buckets: Sequence[Bucket], lines: Sequence[Line], *, counted: str) -> Mapping[str, Any]:
    """One line for each key. Every bucket is a category of its own, so that a repeated hour keeps its place."""
    labels = [bucket.label for bucket in buckets]
    mode = "lines+markers" if len(buckets) <= MARKERS_UP_TO else "lines"
    data = [
        {"type": "scatter", "mode": mode, "name": shown(line.name), "x": labels, "y": list(line.numbers)}
        for line in lines
    ]
    layout = {
        "hovermode": "x unified",
        "showlegend": True,
        "legend": {"orientation": "h"},
        "xaxis": {"type": "category", "nticks": TICKS, "tickangle": 0},
        "yaxis": {"rangemode": "tozero", "tickformat": ",d", "title": {"text": counted}},
    }
    return {"data": data, "layout": layout}


def shown(name: str) -> str:
    """A key as text: plotly.js would read tags and entities in it."""
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def with_rest(lines: Sequence[Line], everything: Sequence[int]) -> Sequence[Line]:
    """The lines, and one of what they leave over of everything, where anything is left."""
    columns = zip(*(line.numbers for line in lines), strict=True) if lines else ([] for _ in everything)
    rest = [total - sum(parts) for total, parts in zip(everything, columns, strict=True)]
    return [*lines, Line(None, rest)] if any(rest) else list(lines)


def sentence(outcomes: int, conversations: int, leading: Line | None) -> str:
    """What the chart of outcomes shows."""
    said = f"{numbered(outcomes, 'outcome')}, {numbered(conversations, 'conversation')} started"
    if leading is None or not leading.total:
        return f"{said}."
    return f"{said}; {leading.name} leads with {leading.total:,}."


def numbered(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
