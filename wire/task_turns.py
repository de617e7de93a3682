"""Share one worker among its tasks: a task stops after its turn and sends itself again."""

from __future__ import annotations

import time
from collections.abc import Callable

TURN_SECONDS = 0.5  # time for some batches; a task waits at most for one turn of each busy environment


class Turn:
    """The time that a task may take before other tasks get a turn; with `seconds` None, as long as it needs.

    is_unfinished: whether work may be left, because the turn was over.
    """

    def __init__(self, seconds: float | None = TURN_SECONDS, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends_at = None if seconds is None else clock() + seconds
        self.is_unfinished = False

    def repeat(self, work: Callable[[], int]) -> int:
        """Call `work` at least once, until it returns 0 or the turn is over. Return the sum of its results."""
        total = 0
        while count := work():
            total += count
            if self._ends_at is not None and self._clock() >= self._ends_at:
                self.is_unfinished = True
                break
        return total


UNLIMITED = Turn(None)
