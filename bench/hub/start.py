"""Measure how long a hub takes until it is ready, the first time and later, and its memory while it has nothing to do.

The times stand beside that of loading the application once, in turns: a start loads it in the supervisor, and then in
the web server, the worker and beat side by side.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench._support.result_table import Row, print_table
from bench._support.run_hub import run_hub
from bench.hub.memory import measure_hub

HUBS = int(os.environ.get("BENCH_STARTS", "5"))
IDLE_SECONDS = 15
FIRST_LIMIT, LATER_LIMIT = 5.0, 2.5  # seconds
MEMORY_LIMIT = 350  # MB, of all processes
LOAD_APPLICATION = "from hub.asgi import application; from django.urls import reverse; reverse('healthz')"


def measure_start(folder: Path) -> float:
    """Return the seconds until a hub with this data directory is ready; then stop it."""
    start = time.perf_counter()
    with run_hub(folder):
        return time.perf_counter() - start


def measure_load() -> float:
    """Return the seconds that one process takes to load the application."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", LOAD_APPLICATION], check=True)
    return time.perf_counter() - start


def measure_idle_memory(folder: Path) -> float:
    """Return the megabytes of all processes of a hub, IDLE_SECONDS after it is ready."""
    with run_hub(folder):
        time.sleep(IDLE_SECONDS)
        return sum(measure_hub(folder).values())


def build_rows(first: Sequence[float], later: Sequence[float], load: Sequence[float], memory: float) -> Iterator[Row]:
    reference = f"loading the application {statistics.median(load):.2f} s"
    for label, times, limit in (("first start", first, FIRST_LIMIT), ("later start", later, LATER_LIMIT)):
        seconds = statistics.median(times)
        yield Row(label, f"{min(times):.2f} to {max(times):.2f} s", reference, seconds, limit, "s")
    yield Row("memory of all idle processes", f"after {IDLE_SECONDS} s", "", memory, MEMORY_LIMIT, "MB")


def main() -> None:
    first, later, load = [], [], []
    folder = Path(tempfile.mkdtemp(prefix="affidavit-bench-"))
    try:
        for number in range(HUBS):
            data_dir = folder / str(number)
            load.append(measure_load())
            first.append(measure_start(data_dir))
            later.append(measure_start(data_dir))
        memory = measure_idle_memory(folder / "0")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print_table(build_rows(first, later, load, memory))


if __name__ == "__main__":
    main()
