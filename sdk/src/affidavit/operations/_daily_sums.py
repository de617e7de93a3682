"""Sums of evidence by operation and by the UTC day on which it was last seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._identity import Identity
from ._operation_sums import OperationSum, OperationSums

SECONDS_PER_DAY = 86400


class DailySums:
    """Sums of many operations by UTC day. Observations belong to the day on which they were last seen."""

    def __init__(self) -> None:
        self._by_day: dict[int, OperationSums] = {}

    def __iter__(self) -> Iterator[tuple[int, OperationSums]]:
        """Yield days since 1970-01-01 UTC in order, each with its sums."""
        return iter(sorted(self._by_day.items(), key=lambda item: item[0]))

    def add(self, identity: Identity, operation_sum: OperationSum) -> None:
        """Add a sum to its day. The caller must not use the sum afterwards: later additions change it."""
        self._by_day.setdefault(operation_sum.last // SECONDS_PER_DAY, OperationSums()).add(identity, operation_sum)

    def add_all(self, other: DailySums) -> None:
        for _, sums in other:
            for identity, operation_sum in sums:
                self.add(identity, operation_sum)

    def to_state(self) -> list[dict[str, Any]]:
        """Return the state as `OperationSums` does, with one entry per operation and day."""
        return [state for _, sums in self for state in sums.to_state()]

    @classmethod
    def from_state(cls, states: list[dict[str, Any]]) -> DailySums:
        sums = cls()
        for state in states:
            sums.add(Identity(state["method"], state["key"]), OperationSum.from_state(state))
        return sums
