"""A call outage: no call is accepted any more (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from intents.reports.verification import ACCEPTED
from wire.significance import is_within_chance

MIN_OUTAGE = 5  # rejections in a row: fewer may be one caller's mistake
USUAL = timedelta(days=7)  # the numbers of this time before the rejections count as usual
SMALLEST_STEP = timedelta(microseconds=1)  # between two moments, as Python and PostgreSQL store them


@dataclass(frozen=True)
class Rejections:
    """Numbers of rejections by reason, and the time of the last rejection, None if there is none."""

    counts: Counter[str]
    last_at: datetime | None


@dataclass(frozen=True)
class CallOutage:
    """The rejections since the last accepted call.

    since: the time of the last accepted call; None if no call was ever accepted.
    counts: the rejections since then by reason; never empty.
    last_at: the time of the last rejection.
    """

    since: datetime | None
    counts: Counter[str]
    last_at: datetime

    @property
    def counted_from(self) -> datetime | None:
        """Return the moment from which on rejections are counted; None if no call was ever accepted."""
        return begin_after(self.since)

    @property
    def rejections(self) -> int:
        return self.counts.total()

    @property
    def reason(self) -> str:
        """Return the most frequent reason."""
        return min(self.counts, key=lambda reason: (-self.counts[reason], reason))

    @property
    def reason_count(self) -> int:
        """Return the number of rejections with the most frequent reason."""
        return self.counts[self.reason]


def begin_after(last_accepted: datetime | None) -> datetime | None:
    """Return the first moment after the last accepted call: a rejection at the same time may have come before it."""
    return last_accepted + SMALLEST_STEP if last_accepted else None


def find_call_outage(since: datetime | None, rejections: Rejections, usual: Mapping[str, int]) -> CallOutage | None:
    """Return the rejections since the last accepted call as a call outage; None if they may be chance.

    If no call was ever accepted, one rejection is a call outage: there is no usual share to compare with.

    since: the time of the last accepted call; None if there is none.
    usual: the numbers of verifications by result before these rejections.
    """
    count = rejections.counts.total()
    if not count or rejections.last_at is None:
        return None
    if since is not None and (count < MIN_OUTAGE or _is_usual(count, usual)):
        return None
    return CallOutage(since, rejections.counts, rejections.last_at)


def _is_usual(count: int, usual: Mapping[str, int]) -> bool:
    verifications = sum(usual.values())
    rejected = verifications - usual.get(ACCEPTED, 0)
    return bool(verifications) and is_within_chance(count, count, rejected, verifications)
