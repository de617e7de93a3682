"""A rise of rejections: its reason, and its start (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from intents.rejections.filters import is_rejection
from intents.rejections.series import ResultBucket
from intents.rejections.totals import ReasonSummary
from wire.chance import is_within_chance

RISE_FACTOR = 2
MIN_RISE = 2  # rejections in one bucket: so few may be a coincidence


@dataclass(frozen=True)
class Rise:
    """A rise of rejections, as the overview shows it.

    reason: the reason that explains it; None if no single reason does.
    operation: the operation with most rejections for this reason; "" for none.
    since: when the rejections for this reason, or all if there is none, rose suddenly; None if they did not.
    is_exact: whether `since` is the time of a rejection; if not, only its day is known.
    """

    reason: ReasonSummary | None
    operation: str
    since: datetime | None
    is_exact: bool = False


def find_explaining_reason(
    summaries: Sequence[ReasonSummary], verifications: int, previous_verifications: int
) -> ReasonSummary | None:
    """Return the reason to which more than half of the rise is due; None if there is none.

    Only rejections beyond the rate of the previous period count as a rise, so more calls alone are none.

    verifications, previous_verifications: all calls of both periods, accepted or not.
    """
    if not previous_verifications:
        return None
    # Times previous_verifications, so that all numbers are whole.
    gains = {
        summary: summary.count * previous_verifications - summary.previous_count * verifications
        for summary in summaries
    }
    reason = max(gains, key=gains.__getitem__, default=None)
    rise = sum(gain for gain in gains.values() if gain > 0)
    return reason if reason and 2 * gains[reason] > rise else None


@dataclass(frozen=True)
class ReasonGrowth:
    """A reason that is a larger share of all verifications than in an earlier span, by its numbers in both."""

    reason: str
    count: int
    previous_count: int
    total: int
    previous_total: int

    @property
    def points(self) -> float:
        """Return by how many percentage points its share grew."""
        return 100 * (self.count / self.total - self.previous_count / self.previous_total)

    @property
    def is_within_chance(self) -> bool:
        return is_within_chance(self.count, self.total, self.previous_count, self.previous_total)


def find_reason_growth(counts: Mapping[str, int], previous_counts: Mapping[str, int]) -> ReasonGrowth | None:
    """Return the reason whose share of all verifications grew most; None if none grew by more than chance.

    counts, previous_counts: the verifications of two spans by result, accepted or not. The spans may differ in length.
    """
    total, previous_total = sum(counts.values()), sum(previous_counts.values())
    if not (total and previous_total):
        return None
    growths = [
        ReasonGrowth(reason, count, previous_counts.get(reason, 0), total, previous_total)
        for reason, count in sorted(counts.items())
        if is_rejection(reason)
    ]
    real_growths = [growth for growth in growths if growth.points > 0 and not growth.is_within_chance]
    return max(real_growths, key=lambda growth: growth.points, default=None)


def find_start(buckets: Sequence[ResultBucket], previous_count: int) -> datetime | None:
    """Return the start of the first bucket with over twice the rejections of an average bucket of the previous period.

    What is over does not count: calls in a bucket with no more rejections than the average end a rise. The last bucket
    does not, since it may be short.

    previous_count: the rejections of that period, which had as many buckets.
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
