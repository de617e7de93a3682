"""The figures of the broken rate over time as dicts for plotly.js (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outcomes.analytics.plotly_figures import build_line_layout, escape_markup
from outcomes.broken_joins.rates import BrokenRate
from wire.charts.series_colours import choose_colours
from wire.time.buckets import Bucket

MIN_REPORTED = 20  # a rate of fewer outcomes says little


def draw_rates(
    buckets: Sequence[Bucket], rates: Sequence[BrokenRate], *, names: Mapping[str, str] | None = None
) -> Mapping[str, Any]:
    """Draw one line for each environment or API key; it is interrupted where nothing was reported.

    names: the names for the legend, by the rates' own names; a rate without an entry keeps its own name.
    """
    common = {"type": "scatter", "mode": "lines+markers", "x": [bucket.label for bucket in buckets]}
    colours = choose_colours([rate.name for rate in rates])
    axis = {"rangemode": "tozero", "tickformat": ".1~%", "title": {"text": "still broken"}}
    return {
        "data": [
            {**_draw_rate(rate, common), "name": escape_markup(name), "line": {"color": colours[rate.name]}}
            for rate in rates
            for name in [(names or {}).get(rate.name, rate.name)]
        ],
        "layout": {**build_line_layout(buckets), "yaxis": axis},
    }


def _draw_rate(rate: BrokenRate, common: Mapping[str, Any]) -> Mapping[str, Any]:
    """Draw a rate; each point shows both numbers of its ratio, and is hollow if few outcomes were reported."""
    counts = [list(pair) for pair in zip(rate.broken_joins, rate.reported_outcomes, strict=True)]
    symbols = ["circle-open" if outcomes < MIN_REPORTED else "circle" for _, outcomes in counts]
    hover = "%{y}, %{customdata[0]:,} of %{customdata[1]:,}"
    points = {"customdata": counts, "hovertemplate": hover, "marker": {"symbol": symbols}}
    return {**common, "y": rate.ratios, **points}
