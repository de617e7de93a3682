"""Figures of the outcomes pages as dicts for plotly.js (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outcomes.analytics.chart_data import Chart
from wire.charts.series_colours import COLOUR_OF_REST, choose_colours
from wire.charts.time_axis import describe_starts, name_partial
from wire.time.buckets import Bucket, show_numbers

MAX_BUCKETS_WITH_MARKERS = 62  # with more, the points would hide the line
TICKS = 8
LAYOUT_OF_LINES = {
    "hovermode": "x unified",
    "showlegend": True,
    "legend": {"orientation": "h"},
    # Every bucket is a category of its own, so that an hour that clocks repeat is shown twice.
    "xaxis": {"type": "category", "nticks": TICKS},
}


def draw_lines(chart: Chart, *, unit: str) -> Mapping[str, Any]:
    """Draw one line for each key, and a dotted one in the same colour for what it is compared with.

    A key has the same colour on every chart, unless another key on the chart takes it (`choose_colours`). The sum of
    all other keys is grey.
    """
    buckets, lines = chart.buckets, chart.lines
    mode = "lines+markers" if len(buckets) <= MAX_BUCKETS_WITH_MARKERS else "lines"
    common = {"type": "scatter", "mode": mode, "x": [bucket.label for bucket in buckets]}
    colours = choose_colours([line.key for line in lines if line.key is not None])
    traces: list[dict[str, Any]] = [
        {
            **common,
            "name": escape_markup(line.name),
            "y": show_numbers(buckets, line.numbers),
            "line": {"color": COLOUR_OF_REST if line.key is None else colours[line.key]},
        }
        for line in lines
    ]
    for compared_line in chart.compared_lines:
        style = {"line": {"dash": "dot", "width": 1.5, "color": colours[compared_line.key or ""]}, "opacity": 0.6}
        name = escape_markup(f"{compared_line.name}, {chart.compared_name}")
        numbers = show_numbers(buckets, compared_line.numbers)
        traces.append({**common, "mode": "lines", "name": name, "y": numbers, **style})
    return {"data": traces, "layout": {**build_line_layout(buckets), "yaxis": _axis_of_counts(unit)}}


def draw_bars(bars: Sequence[tuple[str, int]], *, unit: str) -> Mapping[str, Any]:
    """Draw one bar for each label, with its number on it."""
    labels, numbers = [label for label, _ in bars], [number for _, number in bars]
    layout = {"showlegend": False, "hovermode": "x", "xaxis": {"type": "category"}, "yaxis": _axis_of_counts(unit)}
    texts = {"text": [f"{number:,}" for number in numbers], "textposition": "outside", "cliponaxis": False}
    return {"data": [{"type": "bar", "name": unit, "x": labels, "y": numbers, **texts}], "layout": layout}


def build_line_layout(buckets: Sequence[Bucket]) -> Mapping[str, Any]:
    partial = [number for number, bucket in enumerate(buckets) if bucket.is_partial]
    shades = {"shapes": list(map(_shade_bucket, partial)), **name_partial(partial)}
    return {**LAYOUT_OF_LINES, **describe_starts(bucket.start for bucket in buckets), **shades}


def _shade_bucket(number: int) -> Mapping[str, Any]:
    """Shade a partial bucket: it is not over, so that its numbers still grow, or it begins before the chart."""
    span = {"xref": "x", "yref": "paper", "x0": number - 0.5, "x1": number + 0.5, "y0": 0, "y1": 1}
    return {**span, "type": "rect", "layer": "below", "fillcolor": "var(--line)", "opacity": 0.6, "line": {"width": 0}}


def _axis_of_counts(unit: str) -> Mapping[str, Any]:
    return {"rangemode": "tozero", "tickformat": ",d", "title": {"text": unit}}


def escape_markup(name: str) -> str:
    """Escape a name, so that plotly.js shows it as it is and finds no tags or entities in it."""
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
