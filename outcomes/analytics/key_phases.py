"""The share of conversations that reached a key before and after each annotation of a period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from outcomes.analytics.lag import LagDistribution
from outcomes.models import ALL_KEYS
from outcomes.tallies.first_and_last_data import find_first_data
from outcomes.tallies.series import read_series
from wire.time.period import Period
from workspaces.annotations.phase_comparison import PhaseChange, pair_with_previous
from workspaces.annotations.queries import list_phases
from workspaces.models import Environment


def read_phases(
    environment: Environment, period: Period, key: str, lags: LagDistribution, *, now: datetime
) -> Sequence[PhaseChange]:
    """Return the phases of a period between its latest annotations, the latest first; none without annotations.

    lags: those of the key's outcomes.
    """
    spans = list_phases(environment, period, find_first_data(environment))
    if not spans:
        return ()
    series = read_series(environment, [span.bucket for span in spans], [key, ALL_KEYS])
    numbers = zip(spans, series[ALL_KEYS].conversations, series[key].reached, strict=True)
    phases = [replace(span, total=conversations, count=reached) for span, conversations, reached in numbers]
    return [
        PhaseChange(phase, previous, lags.estimate_pending(now - phase.start, now - min(phase.end, now)))
        for phase, previous in pair_with_previous(phases)
    ][::-1]
