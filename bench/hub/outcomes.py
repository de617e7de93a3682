"""Measure outcomes: reports through the whole stack, pages and a download.

One workspace has BENCH_OUTCOMES outcomes (default 500,000), another one has BENCH_SMALL (default 100,000); each has a
fifth as many conversations. The limits are meant for 10,000,000 outcomes, which take five minutes to insert and 8 GB on
disk. Each rate is measured for BENCH_SECONDS (default 4). Set BENCH_FOLDER to keep the data for later runs; otherwise a
temporary folder holds the data. The hub, its database and the clients all run on this machine.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench._support.hub_client import count_lines, make_poster, measure_rate, measure_seconds
from bench._support.measure import percentile
from bench._support.pages import ZONE
from bench._support.result_table import Row, print_table
from bench._support.run_hub import run_hub
from bench.hub.data.outcomes import load_workspaces, measure_bare_sql, measure_copy
from bench.hub.data.workspaces import BenchWorkspace

OUTCOMES = int(os.environ.get("BENCH_OUTCOMES", "500000"))
SMALL = int(os.environ.get("BENCH_SMALL", "100000"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "4"))
BATCH = 500
PAGES = {
    "outcomes, 24 h": "outcomes?range=24h",
    "outcomes, 7 days": "outcomes?range=7d",
    "outcomes, 90 days": "outcomes?range=90d",
    "outcomes, all time": "outcomes?range=all",
    "outcomes, 12 months, Kathmandu": f"outcomes?range=12m&{ZONE}",
    "outcomes, its second page": "outcomes?range=90d&page=2",
    "outcomes, a search": "outcomes?range=90d&q=tail-7",
    "outcomes, a rare search": "outcomes?range=90d&q=7777",
    "one key, 90 days": "outcome?key=hot-1&range=90d",
    "one key, 12 months, Kathmandu": f"outcome?key=hot-1&range=12m&{ZONE}",
    "broken joins, 90 days": "joins?range=90d",
    "broken joins, 12 months, Kathmandu": f"joins?range=12m&{ZONE}",
    "overview, 90 days": "overview?range=90d",
}
CLIENTS = 16  # clients that POST single outcomes, all under one outcome key
TURNS = 4
VIEW = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
ROUNDS = 20


def measure_reports(address: str, large: BenchWorkspace) -> Iterator[Row]:
    """Measure reports; compare them with the bare SQL statement and with a view that does nothing."""
    single = measure_rate([address], [make_poster(large, BATCH, "one")], SECONDS)
    p95 = percentile(single.times, 0.95) * 1000
    yield Row("POST of 500, one client, p95", f"{p95:.0f} ms", f"{single.count} posts", p95, 60, "ms")
    four = measure_rate([address], [make_poster(large, BATCH, f"four-{n}") for n in range(4)], SECONDS)
    bare_rate = measure_bare_sql(large, clients=2, seconds=SECONDS, size=BATCH)
    over_http = four.per_second * BATCH
    yield Row(
        "20,000 outcomes/s ÷ measured, 4 clients", f"{over_http:,.0f}/s", "20,000/s wanted", 20_000 / over_http, 1
    )
    bare_share = over_http / bare_rate
    yield Row("bare SQL ÷ whole stack", f"{bare_rate:,.0f}/s bare", "2 psycopg clients", 1 / bare_share, 1 / 0.4)
    yield measure_single_post(address, large)


def measure_single_post(address: str, large: BenchWorkspace) -> Row:
    """Measure a POST of one outcome and a view that does nothing, in turns, with the same number of clients."""
    post_rates, view_rates = [], []
    for turn in range(TURNS):
        clients = [make_poster(large, 1, f"hot-{turn}", client=n, clients=CLIENTS) for n in range(CLIENTS)]
        post_rates.append(measure_rate([address], clients, SECONDS / TURNS).per_second)
        view_rates.append(measure_rate([address], [lambda: VIEW] * CLIENTS, SECONDS / TURNS).per_second)
    post_rate, view_rate = statistics.mean(post_rates), statistics.mean(view_rates)
    rate_labels = f"{post_rate:,.0f}/s", f"{view_rate:,.0f}/s of a bare view"
    return Row(
        f"bare view ÷ single POST, one hot key, {CLIENTS} clients", *rate_labels, view_rate / post_rate, 1 / 0.12
    )


def measure_pages(address: str, small: BenchWorkspace, large: BenchWorkspace) -> Iterator[Row]:
    """Measure the pages of both workspaces in turns."""
    for name, address_part in PAGES.items():
        times: dict[str, list[float]] = {"small": [], "large": []}
        for _ in range(ROUNDS + 1):
            for size, data in (("small", small), ("large", large)):
                times[size].append(measure_seconds(f"{address}/w/{data.slug}/production/{address_part}", data.key))
        large_median, small_median = (statistics.median(times[size][1:]) for size in ("large", "small"))
        p95 = percentile(times["large"][1:], 0.95) * 1000
        yield Row(f"page {name}, p95", f"{p95:.0f} ms", f"first {times['large'][0] * 1000:.0f} ms", p95, 100, "ms")
        yield Row(
            f"page {name}, large ÷ small",
            f"{large_median * 1000:.0f} ms",
            f"{small_median * 1000:.0f} ms",
            large_median / small_median,
            1.5,
        )


def measure_download(address: str, large: BenchWorkspace) -> Iterator[Row]:
    """Measure a download of every outcome as CSV, its peak memory in the web processes, and a COPY of the same rows."""
    before = read_peak_memory(large)
    start = time.perf_counter()
    lines = count_lines(f"{address}/w/{large.slug}/production/outcome.csv?range=all", large.key)
    seconds = time.perf_counter() - start
    if lines - 1 < OUTCOMES:
        raise SystemExit(f"The download has {lines - 1:,} rows of {OUTCOMES:,}.")
    peak = read_peak_memory(large)
    copy_seconds = measure_copy(large)
    label = f"CSV of {lines - 1:,} rows"
    yield Row(f"{label}, peak memory", f"{peak:.0f} MB", f"{before:.0f} MB before", peak, 200, "MB")
    yield Row(
        label, f"{seconds:.0f} s", f"COPY of the same rows {copy_seconds:.0f} s", seconds / copy_seconds, 1 / 0.33
    )


def read_peak_memory(workspace: BenchWorkspace) -> float:
    """Return the peak memory so far, in MB, of the largest of the hub's web processes."""
    peaks = [0.0]
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            if f"HUB_DATA_DIR={workspace.folder}".encode() in (status.parent / "environ").read_bytes() and (
                b"granian" in (status.parent / "cmdline").read_bytes()
            ):
                peak_lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
                peaks.append(int(peak_lines[0].split()[1]) / 1000)
        except (OSError, IndexError):
            continue  # the process has ended, or belongs to another user
    return max(peaks)


def main() -> None:
    kept_folder = os.environ.get("BENCH_FOLDER")
    folder = Path(kept_folder or tempfile.mkdtemp(prefix="affidavit-bench-"))
    try:
        with run_hub(folder) as address:
            start = time.perf_counter()
            small, large = load_workspaces([SMALL, OUTCOMES], folder)
            print(f"filled {SMALL:,} and {OUTCOMES:,} outcomes in {time.perf_counter() - start:.0f} s", flush=True)
            print_table(
                [
                    *measure_pages(address, small, large),
                    *measure_download(address, large),
                    *measure_reports(address, large),
                ]
            )
            print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    finally:
        if not kept_folder:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
