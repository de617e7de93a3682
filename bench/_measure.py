"""Times of several candidates, taken in turns, so that a slow moment of the machine falls on all of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

ROUNDS = 25
SECONDS_PER_ROUND = 0.02


class Row(NamedTuple):
    """What was measured, its figure, what it is held against, and the limit that it has to keep, if any."""

    what: str
    measured: str
    against: str
    figure: float
    limit: float | None = None
    unit: str = "x"


def medians(
    candidates: Mapping[str, Callable[[], object]], *, calls: int | None = None, rounds: int = ROUNDS
) -> dict[str, float]:
    """Microseconds per call of each candidate: the median of interleaved rounds.

    calls: in each round; None for as many as fill SECONDS_PER_ROUND.
    """
    repeats = {name: calls or _calibrated(call) for name, call in candidates.items()}
    times: dict[str, list[float]] = {name: [] for name in candidates}
    with without_collections():
        for _ in range(rounds):
            for name, call in candidates.items():
                times[name].append(_per_call(call, repeats[name]))
    return {name: statistics.median(found) for name, found in times.items()}


@contextmanager
def without_collections() -> Iterator[None]:
    """No garbage collection falls on whatever is being timed."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _calibrated(call: Callable[[], object]) -> int:
    """How many calls fill a round."""
    _per_call(call, 20)
    return max(1, round(SECONDS_PER_ROUND * 1e6 / _per_call(call, 20)))


def _per_call(call: Callable[[], object], repeats: int) -> float:
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - begin) / repeats * 1e6


def print_table(rows: Iterable[Row]) -> None:
    """One line for each row; `over` where a figure passes its limit."""
    heads = ("", "measured", "against", "figure", "limit", "")
    cells = [(row.what, row.measured, row.against, f"{row.figure:.2f} {row.unit}", *_verdict(row)) for row in rows]
    widths = [max(len(line[column]) for line in [heads, *cells]) for column in range(len(heads))]
    for line in [heads, *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _verdict(row: Row) -> tuple[str, str]:
    if row.limit is None:
        return "", ""
    return f"{row.limit:.2f}", "ok" if row.figure <= row.limit else "over"
