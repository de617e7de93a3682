"""The rise of rejections that the overview shows, with its reason and its start (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from intents.rejections.series import ResultBucket
from intents.rejections.totals import ReasonSummary

RISE_FACTOR = 2
MIN_RISE = 2  # rejections in one bucket: so few may be a coincidence


@dataclass(frozen=True)
class Rise:
    """The reason that grew most, the operation of most of its rejections ("" for none), and its start if the rise was
    sudden.
    """

    reason: ReasonSummary
    operation: str
    since: datetime | None


def find_start(buckets: Sequence[ResultBucket], previous_count: int) -> datetime | None:
    """Return the start of the first bucket with over twice the rejections of an average bucket of the previous period.

    previous_count: the rejections of that period, which had as many buckets.
    """
    usual = previous_count / len(buckets) if buckets else 0
    limit = max(RISE_FACTOR * usual, MIN_RISE)
    return next((bucket.start for bucket in buckets if bucket.rejections > limit), None)
