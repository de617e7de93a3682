"""Measure the catalog's pages and downloads over HTTP at an idle hub with BENCH_OPERATIONS (default 5,000) operations.

Three other catalogs, of 1,200 operations each, are downloaded for the first time. Then one of them is requested again
with its ETag, which gives 304. A client on this machine measures the times.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from urllib.parse import quote

from bench._support.hub_client import build_request, measure_seconds
from bench._support.measure import percentile
from bench._support.pages import measure_pages
from bench._support.result_table import Row, print_table
from bench._support.run_hub import run_hub
from bench.hub.data.catalog import Catalog, fill

OPERATIONS = int(os.environ.get("BENCH_OPERATIONS", "5000"))
SMALL_OPERATIONS = 1200  # of each small catalog
SMALL_CATALOGS = 3
ROUNDS = 40
LARGE = "operation?method=GET&path=/large"
PAGES = {
    "catalog": "catalog",
    "catalog, its last page": "catalog?page=999",
    "catalog by observations": "catalog?sort=observations",
    "catalog, a search for a word": "catalog?q=currency",
    "catalog, a search for two with a type": "catalog?q=orders+total%3Anumber",
    "catalog, a search that finds nothing": "catalog?q=nothing-is-called-so",
    "catalog, POST with an unknown type": "catalog?method=POST&show=unknown",
    "operation of 2,000 nodes": LARGE,
    "operation of 2,000 nodes, one of them": f"{LARGE}&at=/groupba",
    "drift": "drift",
}


def measure_downloads(address: str, catalogs: Sequence[Catalog]) -> Iterator[Row]:
    for form, limit in (("openapi", 400), ("schemas", 400), ("tools", 400)):
        url = f"{address}/api/catalog/{form}.json"
        cold = [measure_seconds(url, catalog.key) * 1000 for catalog in catalogs]
        unchanged = [measure_not_modified(url, catalogs[0].key) * 1000 for _ in range(ROUNDS)]
        yield Row(
            f"{form}.json of {SMALL_OPERATIONS:,}, cold, slowest", f"{SMALL_CATALOGS} times", "", max(cold), limit, "ms"
        )
        yield Row(f"{form}.json, 304, p95", f"{ROUNDS} times", "", percentile(unchanged, 0.95), 15, "ms")


def measure_not_modified(url: str, key: str) -> float:
    """Return the seconds for a 304 response."""
    with urllib.request.urlopen(build_request(url, key), timeout=120) as response:
        etag = response.headers["ETag"]
        response.read()
    request = build_request(url, key)
    request.add_header("If-None-Match", etag)
    start = perf_counter()
    try:
        with urllib.request.urlopen(request, timeout=120):
            raise SystemExit(f"{quote(url)} changed while nothing was reported.")
    except urllib.error.HTTPError as response:
        if response.code != 304:
            raise
    return perf_counter() - start


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="affidavit-bench-"))
    try:
        with run_hub(folder) as address:
            large = fill(OPERATIONS, address, folder)
            small = [fill(SMALL_OPERATIONS, address, folder) for _ in range(SMALL_CATALOGS)]
            print_table([*measure_pages(address, large.slug, large.key, PAGES), *measure_downloads(address, small)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
