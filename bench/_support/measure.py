"""Time several candidates in turns, so that a slow moment of the machine affects all of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

ROUNDS = 25
SECONDS_PER_ROUND = 0.02


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
