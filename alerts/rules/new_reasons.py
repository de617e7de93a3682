"""Reasons of rejections that are new or back after 30 days (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.rules.happening import Happening
from alerts.rules.thresholds import Thresholds

NEW_AGAIN_AFTER = timedelta(days=30)  # without a rejection for this reason


@dataclass
class _Appearance:
    """A reason since it was new, with the quarter hours of its first and latest rejection, and the count up to now."""

    first: datetime
    last: datetime
    count: int = 0
    is_reported: bool = False


def find_new_reasons(
    rejections: Iterable[tuple[datetime, str, int]], thresholds: Thresholds, *, since: datetime, until: datetime
) -> Iterator[Happening]:
    """Yield the reasons that were new and reached the minimum number of rejections in [since, until].

    rejections: quarter hour, reason, count; from 30 days before `since` on.
    """
    appearances: dict[str, _Appearance] = {}
    for moment, reason, count in sorted(rejections):
        if count <= 0 or moment > until:
            continue
        appearance = appearances.get(reason)
        if appearance is None or moment - appearance.last >= NEW_AGAIN_AFTER:
            appearance = appearances[reason] = _Appearance(moment, moment)
        appearance.last = moment
        appearance.count += count
        if not appearance.is_reported and appearance.count >= thresholds.minimum:
            appearance.is_reported = True
            if moment >= since:
                facts = {"reason": reason, "count": appearance.count}
                yield Happening(reason, moment, NEW_AGAIN_AFTER, facts=facts)
