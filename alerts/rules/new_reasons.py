"""Reasons of rejections that are new or back after 30 days (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.rules.happenings import Happening, Measure
from alerts.rules.thresholds import Thresholds

NEW_AGAIN_AFTER = timedelta(days=30)  # after so long without a rejection, a reason is new again
HISTORY = 2 * NEW_AGAIN_AFTER  # a reason is new for 30 days, and was absent in the 30 days before


@dataclass
class _Appearance:
    """The rejections for a reason since it was new: their number, and the quarter hours of the first and the latest."""

    first: datetime
    last: datetime
    count: int = 0


def find_new_reasons(
    rejections: Iterable[tuple[datetime, str, int]], thresholds: Thresholds, *, since: datetime, until: datetime
) -> Iterator[Happening]:
    """Yield the reasons that were new and reached the minimum number of rejections in [since, until].

    rejections: the quarter hour, the reason and the count of each, from `HISTORY` before `since` on.

    A reason stays new for 30 days. Later, it no longer fires, even if only then it reaches the minimum number.
    """
    for reason, measure in _count_new_reasons(rejections, thresholds, since=since, until=until):
        if measure.value >= thresholds.minimum:
            yield Happening(
                reason, measure.moment, NEW_AGAIN_AFTER, facts={"reason": reason, "count": int(measure.value)}
            )


def measure_new_reasons(
    rejections: Iterable[tuple[datetime, str, int]], thresholds: Thresholds, *, since: datetime, until: datetime
) -> Iterator[Measure]:
    """Yield how many rejections a new reason has had, until it fires. The arguments are those of `find_new_reasons`."""
    for _, measure in _count_new_reasons(rejections, thresholds, since=since, until=until):
        yield measure


def _count_new_reasons(
    rejections: Iterable[tuple[datetime, str, int]], thresholds: Thresholds, *, since: datetime, until: datetime
) -> Iterator[tuple[str, Measure]]:
    """Yield each new reason with its rejections since it was new, until it reached the minimum number."""
    appearances: dict[str, _Appearance] = {}
    for moment, reason, count in sorted(rejections):
        if count <= 0 or moment > until:
            continue
        appearance = appearances.get(reason)
        if appearance is None or moment - appearance.last >= NEW_AGAIN_AFTER:
            appearance = appearances[reason] = _Appearance(moment, moment)
        appearance.last = moment
        is_reported = appearance.count >= thresholds.minimum
        appearance.count += count
        if not is_reported and moment >= since and moment - appearance.first < NEW_AGAIN_AFTER:
            yield reason, Measure(moment, appearance.count)
