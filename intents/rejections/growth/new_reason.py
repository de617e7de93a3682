"""The reason of rejections that is new in a period (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from intents.rejections.tallies.totals import ReasonSummary

NEW_REASON_MINIMUM = 10  # calls; a reason with fewer is not named


def find_new_reason(summaries: Sequence[ReasonSummary]) -> ReasonSummary | None:
    """Return the most frequent reason that the period before did not have; None below NEW_REASON_MINIMUM calls.

    Return None, too, if the period before had no rejection at all: then nothing is known of new reasons.
    """
    if not any(summary.previous_count for summary in summaries):
        return None
    unknown = [summary for summary in summaries if not summary.previous_count]
    reason = max(unknown, key=attrgetter("count"), default=None)
    return reason if reason and reason.count >= NEW_REASON_MINIMUM else None
