"""A scheduler of generators, on a real or simulated clock."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Generator
from typing import Any


class Agenda:
    """Run the steps of several generators, each when it is due. A generator yields the seconds until its next step.

    now: returns Unix seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._waiting: list[tuple[float, int, Generator[float, None, Any]]] = []
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def next_at(self) -> float:
        return self._waiting[0][0] if self._waiting else float("inf")

    def add(self, steps: Generator[float, None, Any], *, due_at: float) -> None:
        heapq.heappush(self._waiting, (due_at, next(self._numbers), steps))

    def run_next(self) -> None:
        """Run one step of the generator that is due first. If the step raises, the generator is not continued."""
        _, _, steps = heapq.heappop(self._waiting)
        wait = next(steps, None)
        if wait is not None:
            self.add(steps, due_at=self._now() + wait)
