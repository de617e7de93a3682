"""Compare a host whose hub fails with the same host whose hub is well: processor time, longest request, memory.

Each host is a process of its own with a witness and an outcome reporter. The hosts play rounds of requests in turns. In
the end the fault of every hub is ended. Then each hub must store everything that its host queued, exactly once.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench._support.result_table import Row, print_table
from sdk.tests.support.faulty_hub import FAULTS, FaultyHub, run_faulty_hub

ROUNDS, REQUESTS = 12, 2_000
PAUSE = 0.5  # seconds between rounds; the background threads of all hosts go on meanwhile
PACE = 0.97  # the least requests in the same processor time, as a share of those with a healthy hub
MOST_MEMORY = 8.0  # MB more than with a healthy hub, for a full queue of 10,000 outcomes and a batch
HEALTHY = "a healthy hub"


class Host:
    """The process of one host, and its hub."""

    def __init__(self, hub: FaultyHub) -> None:
        self.hub = hub
        command = [sys.executable, "-m", "bench._support.reporting_host", hub.url]
        self._process = subprocess.Popen(
            [*command, str(hub.trusted)] if hub.trusted else command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.rounds: list[dict[str, float]] = []

    def play_round(self) -> None:
        assert self._process.stdin
        self._process.stdin.write(b"%d\n" % REQUESTS)
        self._process.stdin.flush()
        self.rounds.append(self._read_line())

    def end(self) -> dict[str, Any]:
        """End the fault of the hub, and return the counts of everything that was reported."""
        assert self._process.stdin
        self.hub.heal()
        self._process.stdin.close()
        result = self._read_line()
        self._process.wait(30)
        return result

    def _read_line(self) -> dict[str, Any]:
        assert self._process.stdout
        line: dict[str, Any] = json.loads(self._process.stdout.readline())
        return line

    @property
    def microseconds(self) -> float:
        """Return the processor time of the whole process per request. The first round, which warms up, is left out."""
        times = [round_["processor"] for round_ in self.rounds]
        return (times[-1] - times[0]) / (REQUESTS * (ROUNDS - 1)) * 1e6

    @property
    def longest(self) -> float:
        """Return the duration of the longest request of a round, in milliseconds: the median over the rounds."""
        return statistics.median(round_["longest"] for round_ in self.rounds[1:]) * 1e3

    @property
    def megabytes(self) -> float:
        return self.rounds[-1]["memory"] / 1e6


def rows() -> Iterator[Row]:
    with ExitStack() as stack:
        hosts = {}
        for fault in (None, *FAULTS):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            hosts[fault or HEALTHY] = Host(stack.enter_context(run_faulty_hub(fault, folder)))
        for _ in range(ROUNDS):
            for host in hosts.values():
                host.play_round()
            time.sleep(PAUSE)
        results = {name: host.end() for name, host in hosts.items()}
        healthy = hosts[HEALTHY]
        for name, host in hosts.items():
            require_nothing_lost(name, host, results[name])
            if host is not healthy:
                yield from compare_hosts(name, host, healthy)


def compare_hosts(name: str, host: Host, healthy: Host) -> Iterator[Row]:
    measured = f"{host.microseconds:.0f} µs, longest {host.longest:.1f} ms"
    reference = f"{healthy.microseconds:.0f} µs, longest {healthy.longest:.1f} ms"
    yield Row(f"hub: {name}", measured, reference, host.microseconds / healthy.microseconds, 1 / PACE)
    more = host.megabytes - healthy.megabytes
    yield Row("   memory", f"{host.megabytes:.1f} MB", f"{healthy.megabytes:.1f} MB", more, MOST_MEMORY, "MB more")


def require_nothing_lost(name: str, host: Host, result: dict[str, Any]) -> None:
    """Raise AssertionError unless the hub stored all that was queued exactly once, and the host logged few warnings."""
    stored = host.hub.count_outcomes()
    requests = ROUNDS * REQUESTS
    assert result["hasSentAll"], f"{name}: not all was sent: {result}"
    assert len(stored) == stored.total() == result["outcomes"] == requests - result["outcomesRefused"], (name, result)
    assert host.hub.count_observations() == result["observations"] == requests - result["observationsDropped"], name
    most_warnings = 0 if name == HEALTHY else 3  # one from each reporter, and one about the full queue
    assert result["warnings"] <= most_warnings, (name, result)


if __name__ == "__main__":
    print_table(rows())
