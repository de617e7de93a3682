"""The title of an event: what happened, in one line for people (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from alerts.rules.alert_descriptions import SPIKES, name_reporter

MAX_TITLE = 300


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
