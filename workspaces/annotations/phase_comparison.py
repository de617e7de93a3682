"""A rate before and after each annotation of a period (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from wire.significance import is_within_chance
from wire.time.buckets import Bucket
from wire.time.period import QUARTER, floor_to_quarter

MAX_PHASES = 6  # on a page, the latest
MOST_PENDING = 0.1  # the share of a phase's count that may still change; a rate with more says nothing yet


@dataclass(frozen=True)
class Phase:
    """The time from one annotation to the next: [start, end) in UTC, in whole quarter hours.

    An empty phase has yet to begin: the quarter hour of its annotations is not over when the period ends.

    texts: the annotations with which it begins, none for the phase before the first annotation.
    total: the number of cases in it, such as conversations or verifications.
    count: how many of them are what the rate counts, such as rejections.
    annotated_at: the time of the first of the annotations with which it begins; None if there are none.
    """

    start: datetime
    end: datetime
    texts: Sequence[str]
    total: int = 0
    count: int = 0
    annotated_at: datetime | None = None

    @property
    def bucket(self) -> Bucket:
        """Return the phase as a span that is read from tallies."""
        return Bucket(self.start, self.end, "")

    @property
    def is_ahead(self) -> bool:
        return self.start >= self.end


@dataclass(frozen=True)
class PhaseChange:
    """A phase and the phase before it; `previous` is None for the first.

    pending: the estimated share of the phase's count that may still change, 0 to 1.
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
        """Return by how many percentage points the rate grew; None if one of the two phases has no cases."""
        if not (self.previous and self.previous.total and self.phase.total):
            return None
        return 100 * (rate_of(self.phase) - rate_of(self.previous))

    @property
    def is_within_chance(self) -> bool:
        """Return whether chance alone may explain the change."""
        if self.points is None or not self.previous:
            return False
        return is_within_chance(self.phase.count, self.phase.total, self.previous.count, self.previous.total)

    @property
    def may_be_chance(self) -> bool:
        """Return whether the page says that the change may be chance: not while it is too early to tell."""
        return bool(self.points) and self.is_within_chance and not self.is_too_early


def has_comparison(changes: Iterable[PhaseChange]) -> bool:
    """Return whether any phase can be compared with the one before it: only then a page shows the phases."""
    return any(change.points is not None for change in changes)


def rate_of(phase: Phase) -> float:
    return phase.count / phase.total


def split_at_annotations(start: datetime, end: datetime, annotations: Iterable[tuple[datetime, str]]) -> list[Phase]:
    """Split [start, end) at annotations, given with their texts in order of time.

    Tallies are no finer than a quarter hour. A quarter hour with an annotation is partly before and partly after it, so
    it belongs to neither phase, unless the annotation is at its start. Annotations in neighbouring quarter hours
    begin one phase together. The phase of the last annotations is empty until their quarter hour has ended.
    """
    by_quarter: dict[datetime, list[tuple[datetime, str]]] = {start: []}
    for moment, text in annotations:
        quarter = max(start, floor_to_quarter(moment))
        if quarter < end:
            by_quarter.setdefault(quarter, []).append((moment, text))
    phases, next_annotations = [], list[tuple[datetime, str]]()
    for quarter, till in pairwise([*by_quarter, end]):
        next_annotations += by_quarter[quarter]
        is_mixed = any(moment > quarter for moment, _ in by_quarter[quarter])
        begin = min(quarter + QUARTER, end) if is_mixed else quarter
        if begin < till or (till == end and next_annotations):  # otherwise these annotations begin the next phase
            texts = [text for _, text in next_annotations]
            phases.append(Phase(begin, till, texts, annotated_at=next_annotations[0][0] if next_annotations else None))
            next_annotations = []
    return phases


def pair_with_previous(phases: Sequence[Phase]) -> Sequence[tuple[Phase, Phase | None]]:
    """Return each phase with the one before it, in order of time."""
    return list(zip(phases, [None, *phases], strict=False))
