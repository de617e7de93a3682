"""Measure the pages of intents over HTTP, with 23,040 tallies for each of BENCH_TALLY_DAYS (default 90) days."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from bench._support.pages import ZONE, measure_pages
from bench._support.result_table import print_table
from bench._support.run_hub import run_hub
from bench.hub.data.verifications import fill_verifications

DAYS = int(os.environ.get("BENCH_TALLY_DAYS", "90"))
PAGES = {
    "rejections, 24 h": "rejections?range=24h",
    "rejections, 90 days": "rejections?range=90d",
    "rejections, 90 days, one operation": "rejections?range=90d&operation=GET%20/orders-3/{id}",
    "rejections, 12 months, Kathmandu": f"rejections?range=12m&{ZONE}",
    "overview, 90 days": "overview?range=90d",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, run_hub(Path(folder)) as address:
        workspace = fill_verifications("Verifications", DAYS, Path(folder))
        print_table(measure_pages(address, workspace.slug, workspace.key, PAGES))


if __name__ == "__main__":
    main()
