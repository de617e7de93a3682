"""A rise of rejections: its reason, and its start (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from intents.rejections.tallies.series import ResultBucket
from intents.rejections.tallies.totals import ReasonSummary

RISE_FACTOR = 2
MIN_RISE = 2  # rejections in one bucket: so few may be a coincidence


@dataclass(frozen=True)
class Rise:
    """A rise of rejections, as the overview shows it.

    reason: the reason that explains it; None if no single reason does.
    operation: the operation of more than half of the rejections with this reason; "" if there is none.
    since: when the rejections rose suddenly: those with this reason, or all if `reason` is None. None if they did not.
    is_exact: whether the time of day of `since` is known; if not, only its day is.
    count: the rejections since then, with this reason or all.
    """

    reason: ReasonSummary | None
    operation: str
    since: datetime | None
    is_exact: bool = False
    count: int = 0


def find_explaining_reason(
    summaries: Sequence[ReasonSummary], verifications: int, previous_verifications: int
) -> ReasonSummary | None:
    """Return the reason to which more than half of the rise is due; None if there is none.

    Only rejections beyond the rate of the previous period count as a rise: more calls at the same rate are no rise.

    verifications, previous_verifications: all calls of both periods, accepted or not.
    """
    if not previous_verifications:
        return None
    # Both terms are multiplied by previous_verifications, so that all numbers are whole.
    gains = {
        summary: summary.count * previous_verifications - summary.previous_count * verifications
        for summary in summaries
    }
    reason = max(gains, key=gains.__getitem__, default=None)
    rise = sum(gain for gain in gains.values() if gain > 0)
    return reason if reason and 2 * gains[reason] > rise else None


def find_start(buckets: Sequence[ResultBucket], previous_count: int) -> datetime | None:
    """Return the start of the rise that goes on; None if there is none.

    It starts with a bucket that has over twice the rejections of an average bucket of the previous period, and more
    than MIN_RISE. A bucket with calls ends a rise if it has no more rejections than the average. The last bucket ends
    none, since it may be short.

    previous_count: the rejections of the previous period, which had as many buckets.
    """
    usual = previous_count / len(buckets) if buckets else 0
    limit = max(RISE_FACTOR * usual, MIN_RISE)
    start: datetime | None = None
    for bucket in buckets:
        if bucket.rejections > limit:
            start = start or bucket.start
        elif bucket.verifications and bucket.rejections <= usual and bucket is not buckets[-1]:
            start = None
    return start
