"""Reporters that reported regularly and no longer do (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from alerts.rules.happenings import Happening, Measure
from alerts.rules.thresholds import Thresholds
from wire.time.period import QUARTER

HOUR = timedelta(hours=1)
HISTORY = timedelta(days=15)  # contains two weekends; only a pause longer than all others in this time is a silence
LEAST_QUARTERS = 4  # quarter hours with a report in that time; with fewer, the reporter was probably an import


def choose_activity(thresholds: Thresholds) -> timedelta:
    """Return the length of the time before a moment whose reports decide whether a silence fires at that moment.

    The last report before the moment may be as old as the longest pause that `HISTORY` can contain. The `HISTORY`
    before that report is needed, too.
    """
    return QUARTER + max(thresholds.length, HISTORY + QUARTER) + HISTORY


def find_silences(
    reporters: Mapping[str, Sequence[datetime]], thresholds: Thresholds, *, since: datetime, until: datetime
) -> Iterator[Happening]:
    """Yield the silences of these reporters that fire in [since, until].

    reporters: for the name of each reporter, the sorted starts of the quarter hours in which it reported, from
        `choose_activity(thresholds)` before `since` on.

    A silence fires when it is as long as the threshold and longer than every pause in the 15 days before it. In these
    15 days the reporter must have reported in the minimum number of quarter hours.
    """
    for reporter, quarters in sorted(reporters.items()):
        for index, quarter in enumerate(quarters):
            resumed_at = quarters[index + 1] if index + 1 < len(quarters) else None
            silent_from = quarter + QUARTER
            if (resumed_at or until) - silent_from < thresholds.length:
                continue
            history = quarters[bisect_left(quarters, quarter - HISTORY) : index + 1]
            if len(history) < thresholds.minimum:
                continue
            fires_at = silent_from + max(thresholds.length, _find_longest_pause(history) + QUARTER)
            if since <= fires_at <= until and (resumed_at is None or fires_at <= resumed_at):
                facts = {"reporter": reporter, "lastReportBefore": int(silent_from.timestamp())}
                yield Happening(reporter, fires_at, thresholds.length, resumed_at, facts=facts)


def measure_silences(
    reporters: Mapping[str, Sequence[datetime]], thresholds: Thresholds, *, since: datetime, until: datetime
) -> Iterator[Measure]:
    """Yield the hours of silence of each reporter: after each hour of a pause and at its end, in [since, until].

    reporters: the same as for `find_silences`. A pause is left out if the reporter reported in fewer than the minimum
        number of quarter hours in the 15 days before it.
    """
    for reporter, quarters in reporters.items():
        for index, quarter in enumerate(quarters):
            silent_from = quarter + QUARTER
            end = min(quarters[index + 1] if index + 1 < len(quarters) else until, until)
            if end < since or index + 1 - bisect_left(quarters, quarter - HISTORY) < thresholds.minimum:
                continue
            moment = silent_from + HOUR
            while moment < end:
                if moment >= since:
                    yield Measure(moment, (moment - silent_from) / HOUR, reporter=reporter)
                moment += HOUR
            yield Measure(end, max((end - silent_from) / HOUR, 0), reporter=reporter)


def _find_longest_pause(quarters: Sequence[datetime]) -> timedelta:
    """Return the longest time without a report between the first and the last of these quarter hours."""
    return max((later - earlier - QUARTER for earlier, later in pairwise(quarters)), default=timedelta(0))
