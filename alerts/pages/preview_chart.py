"""The chart of a preview: what the alert's rule counts by day, its threshold, and when it would have fired."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any
from zoneinfo import ZoneInfo

from alerts.evaluation.preview import Preview
from alerts.models import Alert
from alerts.rules.alert_descriptions import describe_span, name_reporter
from alerts.rules.happenings import Measure
from alerts.rules.thresholds import Thresholds
from wire.charts.series_colours import PARTIAL_OPACITY
from wire.time.buckets import Bucket, split_into_buckets

HEADROOM = 1.15  # the axis ends a little above the highest bar and the threshold
SMALL = 5  # an axis that ends below this has a tick at each whole number
LABELS = {
    Alert.DRIFT: "Breaking changes",
    Alert.NEW_REASON: "Most rejections for one new reason, until it fires",
    Alert.SILENT: "Longest silence of a reporter, in hours",
}
SUBJECTS = {Alert.REJECTIONS: "rejected calls", Alert.BROKEN_JOINS: "broken joins"}


@dataclass(frozen=True)
class PreviewDay:
    """One day of a preview.

    value: the highest number that the rule compared with the threshold on this day; for drift, the sum of its measures.
    event_count: how often the alert would have fired.
    highest: the highest measure of the day, None if nothing above 0 was measured. For drift, where no page shows it,
        it can be a lower measure of the day.
    """

    bucket: Bucket
    value: float
    event_count: int
    highest: Measure | None

    @property
    def reporter(self) -> str:
        """Return the name of the reporter that was silent longest on this day; "" without a silence."""
        return "" if self.highest is None or self.highest.reporter is None else name_reporter(self.highest.reporter)


@dataclass(frozen=True)
class PreviewChart:
    """The days of a preview, the latest last.

    label: the name of the values.
    """

    label: str
    threshold: float
    days: Sequence[PreviewDay]

    @property
    def latest_days(self) -> Sequence[PreviewDay]:
        return self.days[::-1]

    @property
    def highest_day(self) -> PreviewDay:
        return max(self.days, key=lambda day: day.value)

    @property
    def figure(self) -> Mapping[str, Any]:
        """Return bars, the threshold as a line, and a diamond on each day on which the alert would have fired."""
        opacity = [PARTIAL_OPACITY if day.bucket.is_partial else 1 for day in self.days]
        x = [day.bucket.label for day in self.days]
        bars = {"type": "bar", "name": "highest", "x": x, "y": [round(day.value, 2) for day in self.days]}
        firings = [(start, day) for start, day in zip(x, self.days, strict=True) if day.event_count]
        diamonds = {
            "type": "scatter",
            "mode": "markers",
            "name": "would have fired",
            "x": [start for start, _ in firings],
            "y": [round(day.value, 2) for _, day in firings],
            "text": [f"would have fired: {day.event_count}" for _, day in firings],
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {"symbol": "diamond", "size": 11, "color": "var(--bad)"},
        }
        data = [{**bars, "marker": {"opacity": opacity}, **self._label_bars()}, diamonds]
        return {"data": data, "layout": self._build_layout()}

    def _label_bars(self) -> Mapping[str, Any]:
        """Return the hover text of the bars: the value. A silence has its reporter, too: `shop-backend, 23.75 h`."""
        names = [escape(day.reporter, quote=False) for day in self.days]
        if not any(names):
            return {"hovertemplate": "%{y:,}<extra></extra>"}
        hours = [f"{round(day.value, 2):,g} h" for day in self.days]
        texts = [f"{name}, {length}" if name else "" for name, length in zip(names, hours, strict=True)]
        return {"text": texts, "textposition": "none", "hovertemplate": "%{text}<extra></extra>"}

    def _build_layout(self) -> Mapping[str, Any]:
        top = HEADROOM * max(self.threshold, *(day.value for day in self.days))
        line = {"width": 1.5, "dash": "dash", "color": "var(--bad)"}
        threshold = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": line}
        return {
            "showlegend": False,
            "bargap": 0.15,
            "xaxis": {"type": "category", "nticks": 4},
            "yaxis": {"range": [0, top], "tickformat": ",~r", **({"dtick": 1} if top < SMALL else {})},
            "shapes": [{**threshold, "y0": self.threshold, "y1": self.threshold}],
        }


def build_preview_chart(preview: Preview, kind: str, thresholds: Thresholds, zone: ZoneInfo) -> PreviewChart:
    """Return the days of the preview in this zone; the first is partial unless the preview begins at midnight."""
    buckets = split_into_buckets(preview.since, preview.until, zone, "day")
    starts = [bucket.start for bucket in buckets]
    values, firings = [0.0] * len(buckets), [0] * len(buckets)
    highest: list[Measure | None] = [None] * len(buckets)
    for measure in preview.measures:
        index = _find_day(starts, measure.moment)
        if measure.value > values[index]:
            highest[index] = measure
        values[index] = values[index] + measure.value if kind == Alert.DRIFT else max(values[index], measure.value)
    for row in preview.rows:
        firings[_find_day(starts, row.happening.at)] += 1
    days = [PreviewDay(*numbers) for numbers in zip(buckets, values, firings, highest, strict=True)]
    return PreviewChart(_choose_label(kind, thresholds), _choose_threshold(kind, thresholds), days)


def _find_day(starts: Sequence[datetime], moment: datetime) -> int:
    """Return the index of the day that contains a moment. A moment before the first day belongs to the first."""
    return max(bisect_right(starts, moment) - 1, 0)


def _choose_label(kind: str, thresholds: Thresholds) -> str:
    if kind in SUBJECTS:
        return f"Most {SUBJECTS[kind]} within {describe_span(thresholds.minutes)}"
    return LABELS[kind]


def _choose_threshold(kind: str, thresholds: Thresholds) -> float:
    if kind == Alert.DRIFT:
        return 1
    return thresholds.minutes / 60 if kind == Alert.SILENT else thresholds.minimum
