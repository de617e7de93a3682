"""Describe to people when an alert fires, in one line (pure)."""

from __future__ import annotations

from alerts.rules.alert_kinds import BROKEN_JOINS, DRIFT, NEW_REASON, REJECTIONS, SILENT
from alerts.rules.thresholds import Thresholds
from wire.format_numbers import format_decimal

SPANS = {15: "15 minutes", 60: "1 hour", 240: "4 hours", 1440: "1 day", 10080: "7 days"}
SPIKES = {REJECTIONS: "Rejected calls", BROKEN_JOINS: "Broken joins"}


def describe_alert(kind: str, thresholds: Thresholds) -> str:
    """Return when an alert fires: `Broken joins: 20 or more in 1 hour, at least 1 % and 3 times the usual share`."""
    if kind == DRIFT:
        return "Breaking drift"
    if kind == NEW_REASON:
        count = f", from {thresholds.minimum:,} rejections on" if thresholds.minimum > 1 else ""
        return f"New rejection reason{count}"
    if kind == SILENT:
        return f"A reporter silent for {describe_span(thresholds.minutes)}"
    cases = f"{SPIKES[kind]}: {thresholds.minimum:,} or more in {describe_span(thresholds.minutes)}"
    return f"{cases}, at least {describe_share(thresholds)}"


def describe_share(thresholds: Thresholds, of: str = "") -> str:
    """Return the least share at which a jump fires: `1 % and 3 times the usual share`.

    of: what the share is a part of, if it has to be said (`1 % of all and 3 times the usual share`).
    """
    times = "" if thresholds.factor == 1 else f"{format_decimal(thresholds.factor)} times "
    return f"{f'{format_decimal(thresholds.percent)} % {of}'.strip()} and {times}the usual share"


def name_reporter(reporter: str) -> str:
    return reporter or "A reporter without a name"


def describe_span(minutes: int) -> str:
    return SPANS.get(minutes, f"{minutes:,} minutes")
