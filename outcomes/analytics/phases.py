"""The share of conversations that reached a key before and after each annotation of a period."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from outcomes.analytics.lag import LagDistribution
from outcomes.models import ALL_KEYS
from outcomes.tallies.series import chart_buckets, read_series
from wire.chance import is_within_chance
from wire.period import Period, floor_to_quarter
from wire.time_buckets import Bucket
from workspaces.annotations.queries import list_annotations_of_period
from workspaces.models import Environment

MAX_PHASES = 6  # a page shows the latest
MOST_PENDING = 0.1  # of a phase's outcomes; with more to come, its share is too low to compare


@dataclass(frozen=True)
class Phase:
    """The time from one annotation to the next: [start, end) in UTC, in whole quarter hours.

    texts: the annotations with which it begins, none for the first phase of a period.
    conversations: the number of conversations that started in it.
    reached: how many of them reached the key, whenever that was.
    annotated_at: the time of the first of these annotations.
    """

    start: datetime
    end: datetime
    texts: Sequence[str]
    conversations: int = 0
    reached: int = 0
    annotated_at: datetime | None = None


@dataclass(frozen=True)
class PhaseChange:
    """A phase and the phase before it; `previous` is None for the first.

    pending: the estimated share of the phase's outcomes that are still to come, 0 to 1.
    """

    phase: Phase
    previous: Phase | None
    pending: float = 0.0

    @property
    def is_too_early(self) -> bool:
        """Return whether the change says nothing yet."""
        return self.points is not None and self.pending > MOST_PENDING

    @property
    def points(self) -> float | None:
        """Return by how many percentage points the share grew; None if one of the two phases has no conversations."""
        if not (self.previous and self.previous.conversations and self.phase.conversations):
            return None
        return 100 * (share_of(self.phase) - share_of(self.previous))

    @property
    def is_within_chance(self) -> bool:
        """Return whether chance alone often makes samples of these sizes differ so much."""
        if self.points is None or not self.previous:
            return False
        phase, previous = self.phase, self.previous
        return is_within_chance(phase.reached, phase.conversations, previous.reached, previous.conversations)


def share_of(phase: Phase) -> float:
    return phase.reached / phase.conversations


def split_at_annotations(start: datetime, end: datetime, annotations: Iterable[tuple[datetime, str]]) -> list[Phase]:
    """Split [start, end) at annotations, given with their texts in order of time; the phases follow one another.

    Tallies are no finer than a quarter hour, so a phase begins with the quarter hour that holds its annotation.
    """
    texts: dict[datetime, list[str]] = {start: []}
    moments: dict[datetime, datetime] = {}
    for moment, text in annotations:
        begin = max(start, floor_to_quarter(moment))
        if begin < end:
            texts.setdefault(begin, []).append(text)
            moments.setdefault(begin, moment)
    return [
        Phase(since, till, texts[since], annotated_at=moments.get(since)) for since, till in pairwise([*texts, end])
    ]


def read_phases(
    environment: Environment, period: Period, key: str, lags: LagDistribution, *, now: datetime
) -> Sequence[PhaseChange]:
    """Return the phases of a period between its latest annotations, the latest first; none without annotations.

    lags: those of the key's outcomes.
    """
    latest = list_annotations_of_period(environment, period).values_list("at", "text")[: MAX_PHASES - 1]
    buckets = chart_buckets(environment, period)
    if not latest or not buckets:
        return ()
    phases = split_at_annotations(buckets[0].start, period.end, reversed(latest))
    series = read_series(environment, [Bucket(phase.start, phase.end, "") for phase in phases], [key, ALL_KEYS])
    numbers = zip(phases, series[ALL_KEYS].conversations, series[key].reached, strict=True)
    phases_with_counts = [
        replace(phase, conversations=total, reached=reached_conversations)
        for phase, total, reached_conversations in numbers
    ]
    pending = [lags.estimate_pending(now - phase.start, now - min(phase.end, now)) for phase in phases_with_counts]
    facts = zip(phases_with_counts, [None, *phases_with_counts[:-1]], pending, strict=True)
    return [PhaseChange(*row) for row in facts][::-1]
