"""The sentences that the rejections page says beside its numbers (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from intents.rejections.totals import ReasonLine

STEPS = {"hour": "an hour", "day": "a day", "month": "a month"}


def about_reasons(lines: Sequence[ReasonLine], *, step: str, chosen: str = "") -> str:
    """What the chart shows: how many, the leader, and what grew most on the period before."""
    shown = [line for line in lines if chosen in ("", line.reason)]
    if not shown:
        return "Nothing was rejected in this range."
    total = sum(line.count for line in shown)
    head = f"{times(total)}, {STEPS[step]} each bar"
    if chosen:
        return f"{head}: {chosen} alone, {change(shown[0])}."
    return f"{head}; {shown[0].reason} leads with {shown[0].count:,}{growth(shown)}."


def growth(lines: Sequence[ReasonLine]) -> str:
    """lines: the leader first."""
    grown = max(lines, key=lambda line: line.count - line.before)
    more = grown.count - grown.before
    who = "and" if grown is lines[0] else grown.reason
    return f", {who} grew most, by {more:,} on the period before" if more > 0 else ", none grew"


def change(line: ReasonLine) -> str:
    more = line.count - line.before
    if not more:
        return "as many as in the period before"
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'} than in the period before"


def times(count: int) -> str:
    return "1 rejection" if count == 1 else f"{count:,} rejections"
