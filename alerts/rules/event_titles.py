"""The title of an event: what happened, in one line for people (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from alerts.rules.alert_descriptions import SPIKES, name_reporter
from alerts.rules.alert_kinds import DRIFT, NEW_REASON, SILENT
from wire.format_numbers import format_percent

MAX_TITLE = 300


def describe_happening(kind: str, facts: Mapping[str, Any], environment: str) -> str:
    """Return what happened: `Rejected calls in production: 4.2 % (84 of 2,000), usually 0.3 %`."""
    if kind == DRIFT:
        change, more = facts["changes"][0], facts["changeCount"] - 1
        field = f"{change['part']} {change['pointer']}".strip()
        text = f"Breaking drift in {environment}: {facts['operation']}, {field} {change['change']}"
        return _cut(text, f", and {more:,} more breaking change{'' if more == 1 else 's'}" if more else "")
    if kind == NEW_REASON:
        return f"New rejection reason in {environment}: {facts['reason']}"
    if kind == SILENT:
        last = datetime.fromtimestamp(facts["lastReportBefore"], UTC)
        name = name_reporter(facts["reporter"])
        return _cut(f"{name} is silent in {environment}", f", last report before {last:%Y-%m-%d %H:%M} UTC")
    if kind in SPIKES:
        share = f"{format_percent(facts['count'], facts['of'])} ({facts['count']:,} of {facts['of']:,})"
        return f"{SPIKES[kind]} in {environment}: {share}, usually {format_percent(facts['usual'], 1)}"
    return "Test of an alert target"


def _cut(text: str, end: str) -> str:
    room = MAX_TITLE - len(end)
    return (text if len(text) <= room else f"{text[: room - 1]}…") + end
