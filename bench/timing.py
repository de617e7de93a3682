"""Can a caller tell by the time of a `bad-signature` whether a workspace exists? Welch's t on interleaved samples."""

from __future__ import annotations

import gc
import math
import random
import statistics
import time
from collections.abc import Iterator, Sequence

from affidavit import IntentRejected, IntentVerifier, mint_intent
from bench._measure import Row, print_table
from bench.intents import AUDIENCE, SECRET, NoStore

SAMPLES = 100_000
LIMIT = 4.5
WORKSPACES = 500
"""Of each kind, so that where a text happens to lie in memory evens out."""
CROPPED = 0.95
"""The part that a second look keeps: without the slowest samples it sees tens of nanoseconds."""

WRONG_SECRET = "gas_" + "B" * 43

Samples = tuple[list[int], list[int]]


def samples(secrets: Sequence[str]) -> Samples:
    """Nanoseconds of SAMPLES rejections in all, those of known and those of unknown workspaces, by chance."""
    known, unknown = ([f"ws_{kind}{number:015}" for number in range(WORKSPACES)] for kind in "ab")
    verifier = IntentVerifier(dict.fromkeys(known, secrets).get, None, AUDIENCE, NoStore())
    headers = [_header(workspace) for workspace in (*known, *unknown)]
    times: Samples = [], []
    chance = random.Random(3)
    gc.collect()
    gc.disable()
    for _ in range(SAMPLES):
        chosen = chance.randrange(2 * WORKSPACES)
        times[chosen >= WORKSPACES].append(_time_of_rejection(verifier, headers[chosen]))
    gc.enable()
    return times


def _header(workspace: str) -> str:
    call = {"sub": "user-42", "aud": AUDIENCE, "operation": "GET /orders/17", "args": {}}
    return mint_intent(WRONG_SECRET, tenant_id=workspace, tool_call_id="call-1", nonce="n-1", **call).header


def _time_of_rejection(verifier: IntentVerifier, header: str) -> int:
    begin = time.perf_counter_ns()
    try:
        verifier.verify(header, "GET", "/orders/17")
    except IntentRejected:
        return time.perf_counter_ns() - begin
    raise AssertionError("a bad signature passed")


def welch_t(first: Sequence[float], second: Sequence[float]) -> float:
    """How far the means lie apart, in standard errors of their difference."""
    error = math.sqrt(statistics.variance(first) / len(first) + statistics.variance(second) / len(second))
    return (statistics.fmean(first) - statistics.fmean(second)) / error


def cropped(times: Samples) -> Samples:
    """Both without what is slower than CROPPED of all samples."""
    bound = sorted([*times[0], *times[1]])[int(SAMPLES * CROPPED)]
    known, unknown = ([value for value in found if value <= bound] for found in times)
    return known, unknown


def rows(name: str, secrets: Sequence[str]) -> Iterator[Row]:
    times = samples(secrets)
    yield _row(f"bad signature, {name}, all samples", times, LIMIT)
    yield _row(f"bad signature, {name}, fastest {CROPPED:.0%}", cropped(times), None)


def _row(what: str, times: Samples, limit: float | None) -> Row:
    known, unknown = (f"{statistics.median(found) / 1000:.2f} µs" for found in times)
    return Row(what, f"known {known}", f"unknown {unknown}", abs(welch_t(*times)), limit, "|t|")


if __name__ == "__main__":
    print_table([*rows("one secret", [SECRET]), *rows("in rotation", [SECRET, "gas_" + "C" * 43])])
