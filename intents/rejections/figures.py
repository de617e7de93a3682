"""Figures of the intents pages as plain dicts, as plotly.js reads them (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from intents.rejections.series import Bucket
from intents.reports.tally import is_rejection

OTHERS = "all others"
MOST_SERIES = 6
HOVER_FORMS = {"hour": "%a %-d %b, %H:%M", "day": "%a %-d %b %Y", "month": "%B %Y"}
TICK_FORMS = {"hour": "%H:%M\n%a %-d %b", "day": "%a %-d %b", "month": "%b %Y"}
TIME_FORMS = {"hour": "%Y-%m-%d %H:%M", "day": "%Y-%m-%d", "month": "%Y-%m-%d"}


def rejections_over_time(buckets: Sequence[Bucket], *, step: str) -> Mapping[str, Any]:
    """Stacked bars: a bucket's rejections by reason, the rarest reasons together."""
    starts = [f"{bucket.start:{TIME_FORMS[step]}}" for bucket in buckets]
    common = {"type": "bar", "x": starts, "hovertemplate": "%{y:,} %{fullData.name}"}
    bars = [{**common, "name": name, "y": counts, **grey(name)} for name, counts in by_reason(buckets).items()]
    return {"data": bars, "layout": layout(step)}


def grey(name: str) -> Mapping[str, Any]:
    """What has no name of its own stands back."""
    return {"marker": {"color": "var(--series-8)"}} if name == OTHERS else {}


def by_reason(buckets: Sequence[Bucket]) -> Mapping[str, Sequence[int]]:
    """Each reason's count bucket by bucket, the most frequent reason first."""
    totals = sum((bucket.counts for bucket in buckets), Counter())
    reasons = sorted(filter(is_rejection, totals), key=lambda reason: (-totals[reason], reason))
    # Where only one is left over, it may as well have its own name.
    shown = reasons if len(reasons) <= MOST_SERIES else reasons[: MOST_SERIES - 1]
    lines = {reason: [bucket.counts[reason] for bucket in buckets] for reason in shown}
    if len(reasons) > len(shown):
        named = [sum(bucket.counts[reason] for reason in shown) for bucket in buckets]
        lines[OTHERS] = [bucket.rejections - count for bucket, count in zip(buckets, named, strict=True)]
    return lines


def table_rows(
    buckets: Sequence[Bucket], charted: Mapping[str, Sequence[int]]
) -> Sequence[tuple[Bucket, Sequence[int]]]:
    """The chart's numbers, latest first, without the buckets in which nothing was verified."""
    rows = [(bucket, [counts[index] for counts in charted.values()]) for index, bucket in enumerate(buckets)]
    return [row for row in reversed(rows) if row[0].verifications]


def layout(step: str) -> Mapping[str, Any]:
    return {
        "barmode": "stack",
        "bargap": 0.15,
        "hovermode": "x unified",
        "xaxis": {"type": "date", "hoverformat": HOVER_FORMS[step], "tickformat": TICK_FORMS[step]},
        "yaxis": {"rangemode": "tozero", "tickformat": ",d", "title": {"text": "rejections"}},
        "legend": {"orientation": "h"},
        "showlegend": True,
    }
