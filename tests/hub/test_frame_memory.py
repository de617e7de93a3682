"""Calls that begin with memory for their frames never wait for more of it, however deep they are."""

from __future__ import annotations

import resource
import threading
from collections.abc import Callable

import pytest

from hub.frame_memory import call_with_frame_memory

ROUNDS = 500
DEPTHS = range(200)


def count_page_faults(depth: int) -> int:
    """Return how many pages a loop of calls at this depth had to be given."""
    if depth:
        return count_page_faults(depth - 1)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(ROUNDS):
        make_calls()
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


def make_calls(calls: int = 3) -> None:
    if calls:
        make_calls(calls - 1)


def run_in_thread(function: Callable[[], int]) -> int:
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def count_worst() -> int:
    return max(count_page_faults(depth) for depth in DEPTHS)


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_THREAD"), reason="this system does not count page faults by thread")
def test_no_depth_of_calls_maps_memory_again_and_again():
    assert run_in_thread(lambda: call_with_frame_memory(count_worst)) < ROUNDS / 10
    if run_in_thread(count_worst) < ROUNDS / 2:
        pytest.skip("this Python does not unmap the memory of frames in a loop")


def test_the_call_passes_arguments_results_and_errors_on():
    assert call_with_frame_memory(divmod, 17, 5) == (3, 2)
    assert call_with_frame_memory(dict, a=1) == {"a": 1}
    with pytest.raises(ZeroDivisionError):
        call_with_frame_memory(divmod, 1, 0)
