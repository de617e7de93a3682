"""The sentence under the chart of rejections."""

from __future__ import annotations

from collections.abc import Sequence

from intents.rejections.tallies.totals import ReasonSummary
from wire.format_numbers import count_noun


def describe_reasons(
    summaries: Sequence[ReasonSummary],
    *,
    step: str,
    before: str,
    reason: str = "",
    is_partial: bool = False,
    begins_within: bool = False,
    is_filtered: bool = False,
) -> str:
    """Say how many rejections the chart shows, the leading reason, and the reason that grew most, if a single one did.

    summaries: the reasons, the most frequent first.
    before: the words for the period that they are compared with, "" for none.
    reason: the reason by which the page is filtered, if any.
    is_partial: whether the last bar can still grow.
    begins_within: whether the period begins within the first bar, so that this bar is partial.
    is_filtered: whether filters leave rejections of the period out.
    """
    summaries = [summary for summary in summaries if reason in ("", summary.reason)]
    if not any(summary.count for summary in summaries):
        return f"No rejections in this period{' with these filters' if is_filtered else ''}."
    beginning = f"{count_noun(sum(summary.count for summary in summaries), 'rejection')}, one bar per {step}"
    if begins_within:
        beginning += ", the first one partial"
    if is_partial:
        beginning += ", the last one partial"
    if reason:
        return f"{beginning}: {reason} only{_describe_change(summaries[0], before)}."
    return f"{beginning}; {_describe_leaders(summaries)}{_describe_growth(summaries, before)}."


def _describe_leaders(summaries: Sequence[ReasonSummary]) -> str:
    """Name the most frequent reason, or two equally frequent ones; of more, say only how many they are."""
    most = summaries[0].count
    leaders = [summary.reason for summary in summaries if summary.count == most]
    if len(leaders) == 1:
        return f"{leaders[0]} leads with {most:,}"
    if len(leaders) == 2:
        return f"{most:,} each of {leaders[0]} and {leaders[1]}"
    return f"{len(leaders)} reasons lead with {most:,} each"


def _describe_growth(summaries: Sequence[ReasonSummary], before: str) -> str:
    if not before:
        return ""
    if not any(summary.previous_count for summary in summaries):
        return f", none in {before}"
    if all(summary.count <= summary.previous_count for summary in summaries):
        return ", none grew"
    growth = _find_growth(summaries)
    if growth is None:
        return ""
    is_sole_leader = growth is summaries[0] and all(summary.count < growth.count for summary in summaries[1:])
    subject = "and" if is_sole_leader else growth.reason
    return f", {subject} grew most, by {growth.count - growth.previous_count:,} against {before}"


def _find_growth(summaries: Sequence[ReasonSummary]) -> ReasonSummary | None:
    """Return the reason that grew most since the period before; None if none grew, or several grew alike."""
    most = max((summary.count - summary.previous_count for summary in summaries), default=0)
    top_summaries = [summary for summary in summaries if summary.count - summary.previous_count == most > 0]
    return top_summaries[0] if len(top_summaries) == 1 else None


def _describe_change(summary: ReasonSummary, before: str) -> str:
    if not before:
        return ""
    change = summary.count - summary.previous_count
    if not change:
        return f", as many as in {before}"
    return f", {abs(change):,} {'more' if change > 0 else 'fewer'} than in {before}"
