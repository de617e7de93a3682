"""Figures of the outcomes pages as dicts for plotly.js, and what they show in words (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wire.time_buckets import Bucket

MARKERS_UP_TO = 62  # buckets; beyond, points would hide the line
TICKS = 8
REST = "all other keys"
BEFORE = "period before"


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


@dataclass(frozen=True)
class Rate:
    """Broken joins and all that was reported, bucket by bucket, of one environment or API key."""

    name: str
    broken: list[int]
    reported: list[int]

    @property
    def ratios(self) -> list[float | None]:
        pairs = zip(self.broken, self.reported, strict=True)
        return [round(broken / reported, 4) if reported else None for broken, reported in pairs]

    @property
    def total_broken(self) -> int:
        return sum(self.broken)

    @property
    def total_reported(self) -> int:
        return sum(self.reported)


def over_time(
    buckets: Sequence[Bucket], lines: Sequence[Line], *, counted: str, before: Sequence[int] = ()
) -> Mapping[str, Any]:
    """One line for each key. Every bucket is a category of its own, so that a repeated hour keeps its place.

    before: the first line's numbers in the period before, dashed.
    """
    labels = [bucket.label for bucket in buckets]
    mode = "lines+markers" if len(buckets) <= MARKERS_UP_TO else "lines"
    common = {"type": "scatter", "mode": mode, "x": labels}
    data: list[dict[str, Any]] = [
        {**common, "name": shown(line.name), "y": list(line.numbers), **standing_back(line)} for line in lines
    ]
    if before:
        dashed = {"dash": "dot", "width": 1.5, "color": "var(--series-1)"}
        name = f"{shown(lines[0].name)}, {BEFORE}"
        data.append({**common, "mode": "lines", "name": name, "y": list(before), "line": dashed, "opacity": 0.6})
    layout = {
        "hovermode": "x unified",
        "showlegend": True,
        "legend": {"orientation": "h"},
        "xaxis": {"type": "category", "nticks": TICKS},
        "yaxis": {"rangemode": "tozero", "tickformat": ",d", "title": {"text": counted}},
    }
    return {"data": data, "layout": layout}


def standing_back(line: Line) -> Mapping[str, Any]:
    """What has no name of its own is grey."""
    return {"line": {"color": "var(--series-8)"}} if line.key is None else {}


def rates(buckets: Sequence[Bucket], lines: Sequence[Rate]) -> Mapping[str, Any]:
    """One line for each environment or API key; a bucket in which nothing was reported has no rate, and no point."""
    labels = [bucket.label for bucket in buckets]
    data = [
        {"type": "scatter", "mode": "lines+markers", "connectgaps": True, "x": labels, "y": line.ratios,
         "name": shown(line.name)}
        for line in lines
    ]  # fmt: skip
    layout = {
        "hovermode": "x unified",
        "showlegend": True,
        "legend": {"orientation": "h"},
        "xaxis": {"type": "category", "nticks": TICKS},
        "yaxis": {"rangemode": "tozero", "tickformat": ".1~%", "title": {"text": "still broken"}},
    }
    return {"data": data, "layout": layout}


def distribution(bars: Sequence[tuple[str, int]], *, counted: str) -> Mapping[str, Any]:
    """One bar for each length of time."""
    names, numbers = [name for name, _ in bars], [number for _, number in bars]
    layout = {
        "showlegend": False,
        "hovermode": "x",
        "xaxis": {"type": "category"},
        "yaxis": {"rangemode": "tozero", "tickformat": ",d", "title": {"text": counted}},
    }
    return {"data": [{"type": "bar", "name": counted, "x": names, "y": numbers}], "layout": layout}


def shown(name: str) -> str:
    """A key as text: plotly.js would read tags and entities in it."""
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def rest_of(everything: Sequence[int], lines: Sequence[Line]) -> Sequence[int]:
    """What the lines leave over of everything, bucket by bucket."""
    columns = zip(*(line.numbers for line in lines), strict=True) if lines else ([] for _ in everything)
    return [total - sum(parts) for total, parts in zip(everything, columns, strict=True)]


def sentence(outcomes: int, conversations: int, leading: Line | None) -> str:
    """What the chart of outcomes shows."""
    said = f"{numbered(outcomes, 'outcome')}, {numbered(conversations, 'conversation')} started"
    if leading is None or not leading.total:
        return f"{said}."
    return f"{said}; {leading.name} leads with {leading.total:,}."


def numbered(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
