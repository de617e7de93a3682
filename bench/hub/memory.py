"""Measure whether the memory of a hub stays flat while it gets all kinds of reports and shows its main pages.

The load takes BENCH_MINUTES (default 60).

PostgreSQL fills its shared buffers as its data grows. Therefore the table has one row for the hub's own programs, and
one for the database.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench._support.hub_client import build_request
from bench._support.result_table import Row, print_table
from bench._support.run_hub import run_hub
from tests.faults.clients import Client
from tests.faults.ledger import Ledger

MINUTES = float(os.environ.get("BENCH_MINUTES", "60"))
WARM_UP_SHARE = 0.25  # the share of the time that is not measured: caches fill, and processes import what they need
SAMPLE_SECONDS = 10.0
LIMIT = 1.05
PAGES = ("overview", "catalog", "drift", "outcomes", "joins", "rejections", "rules", "confirmations")
DATABASE, PROGRAMS = "PostgreSQL", "web, worker, beat and supervisor"


def measure_family(pid: int) -> float:
    """Return the megabytes (PSS) of a process and all its descendants; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        tasks = [(task / "children").read_text().split() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return 0.0
    kilobytes = next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return kilobytes / 1000 + sum(measure_family(int(child)) for children in tasks for child in children)


def measure_hub(folder: Path) -> Mapping[str, float]:
    """Return the megabytes of the hub whose data is in this folder.

    The database server is measured by itself, because it is not a child of the supervisor.
    """
    postmaster = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
    (supervisor,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {PROGRAMS: measure_family(int(supervisor)), DATABASE: measure_family(postmaster)}


def read_page(address: str, slug: str, key: str, page: str) -> None:
    with urllib.request.urlopen(
        build_request(f"{address}/w/{slug}/production/{page}.json?range=24h", key), timeout=60
    ) as response:
        response.read()


def collect_samples(address: str, folder: Path) -> Iterator[Mapping[str, float]]:
    command = ["create_workspace", "Flat", "--environment", "production", "--full-key", "--json"]
    created = json.loads(subprocess.check_output([sys.executable, "manage.py", *command]))
    key = created["secretKey"]
    client = Client(0, address, key, Ledger(), seed=1)
    client.start()
    pages, end = itertools.cycle(PAGES), time.monotonic() + MINUTES * 60
    next_sample = time.monotonic() + SAMPLE_SECONDS
    while time.monotonic() < end:
        read_page(address, created["slug"], key, next(pages))
        time.sleep(0.2)
        if time.monotonic() >= next_sample:
            next_sample += SAMPLE_SECONDS
            yield measure_hub(folder)
    client.end()
    client.join()
    print(f"requests by status: {dict(client.statuses)}, surprises: {dict(client.surprises)}")
    if client.failure or client.surprises:
        raise SystemExit(f"The load was not answered as it should be: {client.failure!r}")


def build_rows(samples: Sequence[Mapping[str, float]]) -> Iterator[Row]:
    """Yield the growth of the programs and of the database.

    Growth is the median of the last tenth of the measured samples, divided by the median of their first tenth.
    """
    measured_samples = samples[int(len(samples) * WARM_UP_SHARE) :]
    tenth = max(1, len(measured_samples) // 10)
    for owner in (PROGRAMS, DATABASE):
        sizes = [sample[owner] for sample in measured_samples]
        start, end = statistics.median(sizes[:tenth]), statistics.median(sizes[-tenth:])
        limit = LIMIT if owner == PROGRAMS else None
        label = f"{owner}, after {MINUTES:.0f} minutes of load"
        reference = f"after {MINUTES * WARM_UP_SHARE:.0f} minutes {start:.0f} MB"
        yield Row(label, f"{end:.0f} MB", reference, end / start, limit)


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="affidavit-bench-"))
    try:
        with run_hub(folder) as address:
            print_table(build_rows(list(collect_samples(address, folder))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
