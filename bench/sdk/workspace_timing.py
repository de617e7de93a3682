"""Test whether the time of a rejection as `bad-signature` reveals that a workspace exists.

The test is Welch's t-test on interleaved samples of known and unknown workspaces.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from secrets import token_urlsafe

from affidavit import IntentRejected, IntentVerifier, mint_intent
from bench._support.measure import pause_garbage_collection
from bench._support.result_table import Row, print_table
from bench.sdk.intents import AUDIENCE, AcceptAllNonces

SAMPLES = 100_000
LIMIT = 4.5
WORKSPACES = 20_000
"""Half of them are known workspaces. There are many, because some headers always take 0.2 µs longer than others."""
CROPPED_SHARE = 0.95
"""The share of samples in the second test: without the slowest samples it detects tens of nanoseconds."""

Samples = tuple[list[int], list[int]]


def collect_samples(secret_count: int) -> Samples:
    """Return the nanoseconds of SAMPLES rejections of known and of unknown workspaces, in random order.

    secret_count: the number of secrets of each known workspace.
    """
    chance = random.Random(3)
    names = [f"ws_{number:016}" for number in range(WORKSPACES)]
    chance.shuffle(names)
    secrets = [new_secret() for _ in range(secret_count)]
    # The lookup of secrets belongs to the host. The table contains unknown workspaces too, so that their lookup takes
    # as long.
    table = {name: secrets if index % 2 else () for index, name in enumerate(names)}
    verifier = IntentVerifier(secrets=table.get, workspace=None, audience=AUDIENCE, nonces=AcceptAllNonces())
    times: Samples = [], []
    trials = [(_mint_header(name), times[not secrets_in_force]) for name, secrets_in_force in table.items()] * (
        SAMPLES // WORKSPACES
    )
    chance.shuffle(trials)
    with pause_garbage_collection():
        for header, durations in trials:
            # Decode a new string each time: an old one may be in a cache, or have its hash computed already.
            durations.append(_time_rejection(verifier, header.decode()))
    return times


def new_secret() -> str:
    return f"gas_{token_urlsafe(32)}"


def _mint_header(workspace: str) -> bytes:
    call = {"sub": "user-42", "aud": AUDIENCE, "operation": "GET /orders/17", "args": {}}
    minted = mint_intent(new_secret(), tenant_id=workspace, tool_call_id="call-1", nonce="n-1", **call)
    return minted.header.encode()


def _time_rejection(verifier: IntentVerifier, header: str) -> int:
    start = time.perf_counter_ns()
    try:
        verifier.verify(header, "GET", "/orders/17")
    except IntentRejected:
        return time.perf_counter_ns() - start
    raise AssertionError("a bad signature passed")


def welch_t(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the difference of the means, in standard errors of that difference."""
    error = math.sqrt(statistics.variance(first) / len(first) + statistics.variance(second) / len(second))
    return (statistics.fmean(first) - statistics.fmean(second)) / error


def crop(times: Samples) -> Samples:
    """Return the samples among the fastest CROPPED_SHARE of all."""
    bound = sorted([*times[0], *times[1]])[int(SAMPLES * CROPPED_SHARE)]
    known_times, unknown_times = ([value for value in durations if value <= bound] for durations in times)
    return known_times, unknown_times


def measure_rows(name: str, secret_count: int) -> Iterator[Row]:
    times = collect_samples(secret_count)
    yield _build_row(f"bad signature, {name}, all samples", times)
    yield _build_row(f"bad signature, {name}, fastest {CROPPED_SHARE:.0%}", crop(times))


def _build_row(label: str, times: Samples) -> Row:
    known_median, unknown_median = (f"{statistics.median(durations) / 1000:.2f} µs" for durations in times)
    return Row(label, f"known {known_median}", f"unknown {unknown_median}", abs(welch_t(*times)), LIMIT, "|t|")


if __name__ == "__main__":
    print_table([*measure_rows("one secret", 1), *measure_rows("in rotation", 2)])
