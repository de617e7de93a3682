"""Room for the frames of Python's calls, so that CPython does not map and unmap memory again and again.

CPython (3.11 and newer) keeps the frames of a thread in chunks of 16 KiB. It maps a chunk when calls go deeper than the
last one reaches, and unmaps it when they come back. A loop that happens to lie at the end of a chunk does both in each
round: a template with 240 rows did so 10,000 times, which took 55 of the 145 ms of its page. Whether a loop is hit
depends on how many calls, such as middleware, are around it.

A chunk is always large enough for the frame that needs it. One frame of more than half a MiB therefore gets a chunk of
1 MiB, and all calls from it use the rest, which is as much as the 1,000 calls take that Python allows. Only pages that
are used take memory.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import ParamSpec, TypeVar

WORDS_OF_FRAME = 70_000  # of 8 bytes

P = ParamSpec("P")
R = TypeVar("R")


def _call(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    return function(*args, **kwargs)


_call_in_large_frame = FunctionType(_call.__code__.replace(co_stacksize=WORDS_OF_FRAME), {})


def call_with_frame_memory(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function, and return what it returns. Threads and programs begin so."""
    result: R = _call_in_large_frame(function, *args, **kwargs)
    return result
