"""Choose what a page compares its outcomes with: those of the previous period, of another environment, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outcomes.tallies.comparison import SIBLING, Comparison, compare_with_nothing, compare_with_previous
from outcomes.tallies.keys import read_keys
from wire.time.period import Period
from workspaces.models import Environment

NO_COMPARISON = "none"


@dataclass(frozen=True)
class ComparedShare:
    """The share of the conversations that reached a key, in this environment and in the compared environment.

    Environments differ in size, so only their shares can be compared.
    """

    reached: int
    conversations: int
    compared_reached: int
    compared_conversations: int

    @property
    def points(self) -> float | None:
        """Return by how many percentage points the share is larger in this environment.

        Return None if one of the two environments has no conversations.
        """
        if not self.conversations or not self.compared_conversations:
            return None
        return 100 * (self.reached / self.conversations - self.compared_reached / self.compared_conversations)


def read_compared_reached(comparison: Comparison, keys: Sequence[str]) -> Mapping[str, int]:
    """Return how many conversations of the compared environment reached each key; empty if there is none."""
    if comparison.kind != SIBLING or not keys:
        return {}
    environment, period = comparison.environment, comparison.period
    totals = read_keys(environment, period, keys, compare_with_nothing(environment, period))
    return {key: row.reached for key, row in totals.items()}


def choose_comparison(environment: Environment, period: Period, name: str) -> Comparison:
    """Return the comparison that an address names.

    Unless it names another environment of the workspace or NO_COMPARISON, compare with the previous period. The preset
    `all` has none, so compare with nothing then.
    """
    if sibling := environment.find_readable_sibling(name):
        return Comparison(sibling, period, SIBLING)
    if name == NO_COMPARISON or period.preset == "all":
        return compare_with_nothing(environment, period)
    return compare_with_previous(environment, period)


def is_comparison(environment: Environment, name: str) -> bool:
    """Return whether an address may name this comparison: another environment, or NO_COMPARISON."""
    return name == NO_COMPARISON or environment.find_readable_sibling(name) is not None
