"""The charts of one property by day, as plotly.js reads them (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any

from catalog.browse.properties.presence_by_day import PropertyDay, count_types, sum_types
from catalog.evidence.nodes import Node
from wire.charts.series_colours import PARTIAL_OPACITY
from wire.charts.time_axis import describe_starts, describe_time_axis

FEW_DAYS = 5  # an axis of at most so many days gets one label a day: it would have room for labels of hours, too
DAY_MILLISECONDS = 24 * 60 * 60 * 1000


def draw_presence(days: Sequence[PropertyDay], node: Node, *, today: date) -> Mapping[str, Any]:
    """Return a chart of the share of a property by day, or of its count if no share is known."""
    shares = [day.presence.seen / day.presence.parents if day.presence.parents else None for day in days]
    is_share = node.parents is not None
    counts = [day.presence.seen for day in days]
    axis = {"range": [0, 1.05], "tickformat": ".0%"} if is_share else {"rangemode": "tozero", "tickformat": ",d"}
    bars = _draw_bars("present", days, shares if is_share else counts, today=today)
    return {"data": [bars], "layout": {**_build_layout(days), "yaxis": axis}}


def draw_calls(days: Sequence[PropertyDay], status: str, *, today: date) -> Mapping[str, Any]:
    """Return a chart of the calls with one status by day (list_status_days)."""
    bars = _draw_bars(status, days, [day.presence.seen for day in days], today=today)
    axis = {"rangemode": "tozero", "tickformat": ",d"}
    return {"data": [bars], "layout": {**_build_layout(days), "yaxis": axis}}


def draw_types(days: Sequence[PropertyDay], *, today: date) -> Mapping[str, Any]:
    """Return a chart of how often each type was observed by day."""
    names = sum_types(days)
    bars = [_draw_bars(name, days, [count_types(day).get(name, 0) for day in days], today=today) for name in names]
    axis = {"rangemode": "tozero", "tickformat": ",d"}
    return {"data": bars, "layout": {**_build_layout(days), "yaxis": axis, "barmode": "stack", "showlegend": True}}


def _draw_bars(
    name: str, days: Sequence[PropertyDay], values: Sequence[float | None], *, today: date
) -> Mapping[str, Any]:
    """Return the bars; the bar of a day that is not over is paler than the others."""
    opacity = [PARTIAL_OPACITY if day.day >= today else 1 for day in days]
    return {"type": "bar", "name": name, "x": [day.day.isoformat() for day in days], "y": values,
            "marker": {"opacity": opacity}}  # fmt: skip


def _build_layout(days: Sequence[PropertyDay]) -> Mapping[str, Any]:
    starts = describe_starts(datetime.combine(day.day, time(), UTC) for day in days)
    is_short = bool(days) and (days[-1].day - days[0].day).days < FEW_DAYS
    ticks = {"dtick": DAY_MILLISECONDS} if is_short else {}
    axis = {**describe_time_axis("day"), **ticks}
    return {"showlegend": False, "hovermode": "x", "xaxis": axis, "bargap": 0.15, **starts}
