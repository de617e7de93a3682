"""The broken rate before and after each annotation of a period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from outcomes.analytics.lag import estimate_pending
from outcomes.broken_joins.healed_joins import Healing, estimate_healing
from outcomes.tallies.first_and_last_data import find_first_data
from outcomes.tallies.series import read_series_of_all_keys
from wire.time.period import Period
from workspaces.annotations.phase_comparison import PhaseChange, pair_with_previous
from workspaces.annotations.queries import list_phases
from workspaces.models import Environment


def read_join_phases(
    environment: Environment, period: Period, healing: Healing, *, now: datetime
) -> Sequence[PhaseChange]:
    """Return the phases of a period between its latest annotations, the latest first; none without annotations.

    A phase counts the outcomes that were first reported in it, and how many of them are broken now.

    healing: the joins that healed in this period. They serve to estimate how many more will heal.
    """
    spans = list_phases(environment, period, find_first_data(environment))
    if not spans:
        return ()
    series = read_series_of_all_keys(environment, [span.bucket for span in spans])
    numbers = zip(spans, series.outcomes, series.broken, strict=True)
    phases = [replace(span, total=outcomes + broken, count=broken) for span, outcomes, broken in numbers]
    broken_joins = sum(series.broken)
    changes = []
    for phase, previous in pair_with_previous(phases):
        pending = estimate_pending(healing.lengths, now - phase.start, now - min(phase.end, now))
        changes.append(PhaseChange(phase, previous, estimate_healing(pending, healing.count, broken_joins)))
    return changes[::-1]
