"""The numbers of the overview page, from all three domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from catalog.operation_queries import OperationCounts
from hub.overview.alarming_rate import is_alarming_rate
from intents.rejections.tallies.totals import Total, count_rejections, count_verifications
from outcomes.tallies.moved_counts import NOTHING_MOVED, MovedCounts
from outcomes.tallies.series import Totals
from outcomes.tallies.without_moves import CountWithoutMoves, RateWithoutMoves, leave_out_moved_here, leave_out_moves
from workspaces.templatetags.numbers import rate_change

FACT_COLUMNS = ("fact", "value", "of", "before", "beforeOf", "movedHere", "movedAway")


@dataclass(frozen=True)
class PartOfFact:
    """A part of a fact's number.

    subset: the value of `show=` that narrows the fact's page to this part.
    """

    count: int
    word: str
    subset: str


@dataclass(frozen=True)
class Fact:
    """One number of the overview, for the period and for the one before. With a `total`, it is shown as a rate.

    has_previous: False if the data began later than the previous period, so that there is nothing to compare with.
    without_moves: the rates that are compared if moves changed one of them. A move takes broken joins to the
        environment that knows their conversations, and is no rise or fall.
    count_without_moves: the same for a number that is no rate.
    """

    name: str
    title: str
    page: str
    value: int
    total: int | None = None
    previous: int | None = None
    previous_total: int | None = None
    has_previous: bool = False
    note: str = ""
    parts: Sequence[PartOfFact] = ()
    without_moves: RateWithoutMoves | None = None
    count_without_moves: CountWithoutMoves | None = None

    @property
    def _compared_rates(self) -> tuple[int, int, int, int]:
        """Return value and total, then those of the period before; all without moves if moves changed a rate."""
        if rate := self.without_moves:
            return rate.value, rate.total, rate.previous, rate.previous_total
        return self.value, self.total or 0, self.previous or 0, self.previous_total or 0

    @property
    def is_alarming(self) -> bool:
        """Return whether this rate, which should be low, is well above that of the period before, if there is one."""
        return is_alarming_rate(*self._compared_rates)

    @property
    def points(self) -> str:
        """Return by how many percentage points the rate differs from the period before; "" if nothing is compared."""
        value, total, previous, previous_total = self._compared_rates
        return rate_change(value, total, previous, previous_total)

    def to_row(self) -> Sequence[Any]:
        previous = (self.previous, self.previous_total) if self.has_previous else (None, None)
        return (self.name, self.value, self.total, *previous, *self._moved_counts)

    @property
    def _moved_counts(self) -> tuple[int | None, int | None]:
        """Return how many outcomes of the period were moved here and away; None where moves change nothing."""
        if self.name == "outcomes":
            return self.count_without_moves.moved_here if self.count_without_moves else 0, None
        if self.name == "brokenJoins":
            rate = self.without_moves
            return (sum(rate.moved_here.values()), sum(rate.moved_away.values())) if rate else (0, 0)
        return None, None


def build_facts(
    outcomes: tuple[Totals, Totals],
    verifications: tuple[Sequence[Total], Sequence[Total]],
    operations: OperationCounts,
    drifted_operations: int,
    moved_counts: tuple[MovedCounts, MovedCounts] = (NOTHING_MOVED, NOTHING_MOVED),
    *,
    has_outcomes_before: bool,
    has_verifications_before: bool,
) -> Sequence[Fact]:
    """Return the five numbers, in the order of the page. The second of each pair is of the previous period."""
    totals, previous = outcomes
    rejection_counts = [count_rejections(part) for part in verifications]
    verification_counts = [count_verifications(part) for part in verifications]
    return [
        Fact(
            "conversations", "Conversations", "outcomes",
            totals.conversations, None, previous.conversations, has_previous=has_outcomes_before,
        ),
        Fact(
            "outcomes", "Outcomes", "outcomes",
            totals.outcomes, None, previous.outcomes, has_previous=has_outcomes_before,
            count_without_moves=leave_out_moved_here((totals.outcomes, previous.outcomes), moved_counts),
        ),
        Fact(
            "brokenJoins", "Broken joins", "joins",
            totals.broken, totals.reported_outcomes, previous.broken, previous.reported_outcomes, has_outcomes_before,
            without_moves=leave_out_moves(outcomes, moved_counts),
        ),
        Fact(
            "rejections", "Rejected calls", "rejections",
            rejection_counts[0], verification_counts[0], rejection_counts[1], verification_counts[1],
            has_verifications_before,
        ),
        Fact(
            "operations", "Operations", "catalog",
            operations.total, note="none new or changed in this period",
            parts=list_parts_of_operations(operations.new, drifted_operations),
        ),
    ]  # fmt: skip


def list_parts_of_operations(new_count: int, drifted_count: int) -> Sequence[PartOfFact]:
    parts = (PartOfFact(new_count, "new", "new"), PartOfFact(drifted_count, "changed", "drifted"))
    return [part for part in parts if part.count]
