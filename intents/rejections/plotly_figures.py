"""The chart of the rejections page as plotly.js reads it, and the table of its numbers (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from intents.rejections.filters import is_rejection
from intents.rejections.tallies.series import ResultBucket
from wire.charts.series_colours import COLOUR_OF_REST, PARTIAL_OPACITY, choose_colours
from wire.charts.time_axis import describe_starts, name_partial
from wire.time.buckets import show_numbers

RARE_REASONS = "all others"
MAX_SERIES = 6
LAYOUT = {
    "barmode": "stack",
    "bargap": 0.15,
    "hovermode": "x unified",
    # Every bucket is a category of its own, so that an hour that clocks repeat is shown twice.
    "xaxis": {"type": "category", "nticks": 8},
    "yaxis": {"rangemode": "tozero", "tickformat": ",d", "title": {"text": "rejections"}},
    "legend": {"orientation": "h"},
    "showlegend": True,
}


def build_rejections_figure(buckets: Sequence[ResultBucket]) -> Mapping[str, Any]:
    """Draw stacked bars: a bucket's rejections by reason, the rarest reasons together in grey.

    A reason has the same colour on every chart, unless another reason on the chart takes it (`choose_colours`). The bar
    of a bucket that is not over is paler than the others. So is the first bar if its hour, day or month begins before
    the period.
    """
    common = {"type": "bar", "x": [bucket.label for bucket in buckets], "hovertemplate": "%{y:,} %{fullData.name}"}
    series = count_by_reason(buckets)
    opacity = [PARTIAL_OPACITY if bucket.is_partial else 1 for bucket in buckets]
    colours = {**choose_colours([name for name in series if name != RARE_REASONS]), RARE_REASONS: COLOUR_OF_REST}
    bars = [
        {
            **common,
            "name": name,
            "y": show_numbers(buckets, counts),
            "marker": {"color": colours[name], "opacity": opacity},
        }
        for name, counts in series.items()
    ]
    partial = name_partial(number for number, bucket in enumerate(buckets) if bucket.is_partial)
    return {"data": bars, "layout": {**LAYOUT, **describe_starts(bucket.start for bucket in buckets), **partial}}


def count_by_reason(buckets: Sequence[ResultBucket]) -> Mapping[str, Sequence[int]]:
    """Count each reason bucket by bucket, the most frequent reason first."""
    totals: Counter[str] = sum((bucket.counts for bucket in buckets), Counter())
    reasons = sorted(filter(is_rejection, totals), key=lambda reason: (-totals[reason], reason))
    # A single rare reason keeps its own name.
    frequent = reasons if len(reasons) <= MAX_SERIES else reasons[: MAX_SERIES - 1]
    series = {reason: [bucket.counts[reason] for bucket in buckets] for reason in frequent}
    if len(reasons) > len(frequent):
        series[RARE_REASONS] = [
            bucket.rejections - sum(bucket.counts[reason] for reason in frequent) for bucket in buckets
        ]
    return series


def build_table_rows(
    buckets: Sequence[ResultBucket], series: Mapping[str, Sequence[int]]
) -> Sequence[tuple[ResultBucket, Sequence[int]]]:
    """Return the chart's numbers, the latest first, without the buckets in which nothing was verified."""
    rows = [(bucket, [counts[index] for counts in series.values()]) for index, bucket in enumerate(buckets)]
    return [row for row in reversed(rows) if row[0].verifications]
