"""The sentence that says what the chart of outcomes shows (pure)."""

from __future__ import annotations

from unicodedata import bidirectional

from outcomes.analytics.chart_data import ChartLine
from wire.format_numbers import count_noun

RIGHT_TO_LEFT = {"R", "AL", "AN", "RLE", "RLO", "RLI"}  # classes of characters in Unicode


def isolate(name: str) -> str:
    """Return a name; one with right-to-left letters within marks, so that it does not reorder the text beside it."""
    return f"\u2068{name}\u2069" if RIGHT_TO_LEFT.intersection(map(bidirectional, name)) else name


def summarize_chart(outcomes: int, conversations: int, leading: ChartLine | None) -> str:
    """Say in one sentence what the chart of the most frequent keys shows."""
    summary = f"{count_noun(outcomes, 'outcome')}, {count_noun(conversations, 'conversation')} started"
    if leading is None or not leading.total:
        return f"{summary}."
    return f"{summary}; {isolate(leading.name)} leads with {leading.total:,}."


def summarize_chosen(outcomes: int, conversations: int, leading: ChartLine | None) -> str:
    """Say in one sentence what a chart of chosen keys or of later ranks shows: other keys may be more frequent."""
    summary = f"{count_noun(outcomes, 'outcome')} in all, {count_noun(conversations, 'conversation')} started"
    return f"{summary}; {isolate(leading.name)} {leading.total:,} of them." if leading else f"{summary}."
