"""Can a caller tell by the time of a `bad-signature` whether a workspace exists? Welch's t on interleaved samples."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from secrets import token_urlsafe

from affidavit import IntentRejected, IntentVerifier, mint_intent
from bench._measure import Row, print_table, without_collections
from bench.intents import AUDIENCE, NoStore

SAMPLES = 100_000
LIMIT = 4.5
WORKSPACES = 20_000
"""Known and unknown together; many, because some headers always take 0.2 µs longer than others, whosever they are."""
CROPPED = 0.95
"""The part that a second look keeps: without the slowest samples it sees tens of nanoseconds."""

Samples = tuple[list[int], list[int]]


def samples(in_force: int) -> Samples:
    """Nanoseconds of SAMPLES rejections in all, those of known and those of unknown workspaces, shuffled.

    in_force: secrets of each known workspace.
    """
    chance = random.Random(3)
    names = [f"ws_{number:016}" for number in range(WORKSPACES)]
    chance.shuffle(names)
    secrets = [new_secret() for _ in range(in_force)]
    # The lookup is the host's own: unknown workspaces stand in it too, so that it takes as long for them.
    table = {name: secrets if place % 2 else () for place, name in enumerate(names)}
    verifier = IntentVerifier(table.get, None, AUDIENCE, NoStore())
    times: Samples = [], []
    trials = [(_header(name), times[not found]) for name, found in table.items()] * (SAMPLES // WORKSPACES)
    chance.shuffle(trials)
    with without_collections():
        for header, kept in trials:
            # Each time a new text: an old one may lie in a cache, or know its hash already.
            kept.append(_time_of_rejection(verifier, header.decode()))
    return times


def new_secret() -> str:
    return f"gas_{token_urlsafe(32)}"


def _header(workspace: str) -> bytes:
    call = {"sub": "user-42", "aud": AUDIENCE, "operation": "GET /orders/17", "args": {}}
    minted = mint_intent(new_secret(), tenant_id=workspace, tool_call_id="call-1", nonce="n-1", **call)
    return minted.header.encode()


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


def rows(name: str, in_force: int) -> Iterator[Row]:
    times = samples(in_force)
    yield _row(f"bad signature, {name}, all samples", times)
    yield _row(f"bad signature, {name}, fastest {CROPPED:.0%}", cropped(times))


def _row(what: str, times: Samples) -> Row:
    known, unknown = (f"{statistics.median(found) / 1000:.2f} µs" for found in times)
    return Row(what, f"known {known}", f"unknown {unknown}", abs(welch_t(*times)), LIMIT, "|t|")


if __name__ == "__main__":
    print_table([*rows("one secret", 1), *rows("in rotation", 2)])
