"""Time several candidates in turns, so that a slow moment of the machine affects all of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

ROUNDS = 25
SECONDS_PER_ROUND = 0.02


class Row(NamedTuple):
    """One line of a table.

    figure: the ratio of the measured value and the reference; with a unit other than x, a value in that unit.
    limit: the largest figure that meets the goal, if there is a goal.
    """

    label: str
    measured: str
    reference: str
    figure: float
    limit: float | None = None
    unit: str = "x"

    @property
    def is_met(self) -> bool | None:
        """Return whether the figure is within its limit; None if it has none."""
        return None if self.limit is None else self.figure <= self.limit


PRINTED_ROWS: list[Row] = []
"""All rows of this process that were printed."""


def measure_medians(
    candidates: Mapping[str, Callable[[], object]], *, calls: int | None = None, rounds: int = ROUNDS
) -> dict[str, float]:
    """Return the microseconds per call of each candidate: the median of interleaved rounds.

    calls: the number of calls per round; if None, as many as fit into SECONDS_PER_ROUND.
    """
    repeats = {name: calls or _calibrate(call) for name, call in candidates.items()}
    times: dict[str, list[float]] = {name: [] for name in candidates}
    with pause_garbage_collection():
        for _ in range(rounds):
            for name, call in candidates.items():
                times[name].append(_time_per_call(call, repeats[name]))
    return {name: statistics.median(durations) for name, durations in times.items()}


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Switch off garbage collection while something is timed."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _calibrate(call: Callable[[], object]) -> int:
    """Return how many calls fit into SECONDS_PER_ROUND."""
    _time_per_call(call, 20)
    return max(1, round(SECONDS_PER_ROUND * 1e6 / _time_per_call(call, 20)))


def _time_per_call(call: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats * 1e6


def percentile(times: Sequence[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, round(share * len(times)))]


def print_table(rows: Iterable[Row]) -> None:
    """Print one line per row, with `over` if its figure exceeds its limit."""
    rows = list(rows)
    PRINTED_ROWS.extend(rows)
    headings = ("", "measured", "against", "figure", "limit", "")
    cells = [(row.label, row.measured, row.reference, f"{row.figure:.2f} {row.unit}", *_verdict(row)) for row in rows]
    widths = [max(len(line[column]) for line in [headings, *cells]) for column in range(len(headings))]
    for line in [headings, *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _verdict(row: Row) -> tuple[str, str]:
    if row.limit is None:
        return "", ""
    return f"{row.limit:.2f}", "ok" if row.is_met else "over"
