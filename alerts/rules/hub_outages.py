"""Outages of the hub, which may explain the silence of a reporter (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.rules.happenings import Happening
from alerts.rules.thresholds import Thresholds

SHORTEST_OUTAGE = timedelta(minutes=10)  # without an evaluation; after a shorter time, silences fire as usual


@dataclass(frozen=True)
class HubOutage:
    """A time in which no reporter could report: the hub evaluated no alert, or the environment was archived."""

    start: datetime
    end: datetime


def leave_out_outage(
    silences: Iterable[Happening], outage: HubOutage, thresholds: Thresholds, *, until: datetime
) -> Iterator[Happening]:
    """Yield the silences that fire by `until`; those that the outage may explain fire later or are left out.

    No reporter could report during the outage. So a silence that began before the outage's end, and would fire at the
    outage's start or later, does not fire until the threshold has passed since the outage's end. If the reporter
    reports before that, it does not fire at all.
    """
    ready_at = outage.end + thresholds.length
    for silence in silences:
        began_at = silence.at - silence.gap
        if silence.at < outage.start or began_at >= outage.end or silence.at >= ready_at:
            yield silence
        elif ready_at <= until and (silence.until is None or ready_at <= silence.until):
            yield replace(silence, at=ready_at, gap=ready_at - began_at)
