"""Measure what the rate limit costs: the requests per second of a hub without it, divided by those of a hub with it."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench._support.hub_client import make_poster, measure_rate
from bench._support.result_table import Row, print_table
from bench._support.run_hub import run_hub
from bench.hub.data.outcomes import load_workspaces
from bench.hub.data.workspaces import BenchWorkspace

TURNS, SECONDS, CLIENTS = 12, 2.0, 4
HIGH_LIMIT = 1_000_000  # requests per second: so high that requests are counted but never refused
CONVERSATIONS = 2_000


def start_hub(stack: ExitStack, folder: Path, rate: int) -> tuple[str, BenchWorkspace]:
    os.environ["RATE_LIMIT"] = str(rate)
    address = stack.enter_context(run_hub(folder))
    return address, load_workspaces([CONVERSATIONS], folder)[0]


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="affidavit-bench-"))
    rates: dict[int, list[float]] = {HIGH_LIMIT: [], 0: []}
    try:
        with ExitStack() as stack:
            hubs = {rate: start_hub(stack, folder / str(rate), rate) for rate in rates}
            for turn in range(TURNS):
                for rate, (address, workspace) in hubs.items():
                    clients = [
                        make_poster(workspace, 1, f"turn-{turn}", client=n, clients=CLIENTS) for n in range(CLIENTS)
                    ]
                    rates[rate].append(measure_rate([address], clients, SECONDS).per_second)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    limited, unlimited = (statistics.median(rates[rate]) for rate in (HIGH_LIMIT, 0))
    figures = f"{limited:,.0f}/s", f"{unlimited:,.0f}/s without"
    print_table(
        [Row(f"without limit ÷ with limit, {CLIENTS} clients, one key", *figures, unlimited / limited, 1 / 0.95)]
    )


if __name__ == "__main__":
    main()
