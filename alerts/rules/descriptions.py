"""Describe alerts and happenings to people, in one line each (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from alerts.rules.thresholds import Thresholds

MAX_TITLE = 300
SPANS = {15: "15 minutes", 60: "1 hour", 240: "4 hours", 1440: "1 day", 10080: "7 days"}
SPIKES = {"rejections.spike": "Rejected calls", "broken-joins.spike": "Broken joins"}


def describe_alert(kind: str, thresholds: Thresholds) -> str:
    """Return when an alert fires: `Broken joins: 20 or more in 1 hour, at least 1 % and 3 times the usual share`."""
    if kind == "drift.breaking":
        return "Breaking drift"
    if kind == "rejections.new-reason":
        return "New rejection reason" + (f", from {thresholds.minimum:,} rejections on" * (thresholds.minimum > 1))
    if kind == "reporter.silent":
        return f"A reporter silent for {describe_span(thresholds.minutes)}"
    return (
        f"{SPIKES[kind]}: {thresholds.minimum:,} or more in {describe_span(thresholds.minutes)}, "
        f"at least {thresholds.percent:g} % and {thresholds.factor:g} times the usual share"
    )


def name_reporter(reporter: str) -> str:
    return reporter or "A reporter without a name"


def describe_span(minutes: int) -> str:
    return SPANS.get(minutes, f"{minutes:,} minutes")


def describe_happening(kind: str, facts: Mapping[str, Any], environment: str) -> str:
    """Return what happened: `Rejected calls in production: 4.2 % (84 of 2,000), usually 0.3 %`."""
    if kind == "drift.breaking":
        change, more = facts["changes"][0], facts["changeCount"] - 1
        field = f"{change['part']} {change['pointer']}".strip()
        text = f"Breaking drift in {environment}: {facts['operation']}, {field} {change['change']}"
        return _cut(text, f", and {more:,} more breaking change{'' if more == 1 else 's'}" if more else "")
    if kind == "rejections.new-reason":
        return f"New rejection reason in {environment}: {facts['reason']}"
    if kind == "reporter.silent":
        last = datetime.fromtimestamp(facts["lastReportBefore"], UTC)
        name = name_reporter(facts["reporter"])
        return _cut(f"{name} is silent in {environment}", f", last report before {last:%Y-%m-%d %H:%M} UTC")
    if kind in SPIKES:
        shares = (
            f"{_percent(facts['share'])} ({facts['count']:,} of {facts['of']:,}), usually {_percent(facts['usual'])}"
        )
        return f"{SPIKES[kind]} in {environment}: {shares}"
    return "Test of an alert target"


def _percent(share: float) -> str:
    return f"{share * 100:.2g} %" if share < 0.1 else f"{share * 100:.0f} %"


def _cut(text: str, end: str) -> str:
    room = MAX_TITLE - len(end)
    return (text if len(text) <= room else f"{text[: room - 1]}…") + end
