"""Who goes on when: courses of events in the order of a clock, which may be the real one or one that is set."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Generator
from typing import Any


class Agenda:
    """now: Unix seconds. A course gives the seconds to wait before it goes on."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._waiting: list[tuple[float, int, Generator[float, None, Any]]] = []
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def next_at(self) -> float:
        return self._waiting[0][0] if self._waiting else float("inf")

    def add(self, course: Generator[float, None, Any], *, at: float) -> None:
        heapq.heappush(self._waiting, (at, next(self._numbers), course))

    def go_on(self) -> None:
        """One step of the course that is due first; a step that raises ends its course."""
        _, _, course = heapq.heappop(self._waiting)
        wait = next(course, None)
        if wait is not None:
            self.add(course, at=self._now() + wait)
