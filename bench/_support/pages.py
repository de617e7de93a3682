"""Measure the pages of a workspace over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bench._support.hub_client import measure_seconds
from bench._support.measure import percentile
from bench._support.result_table import Row

BARE = "bare view"
ROUNDS = 40
GOAL = 100  # milliseconds
ZONE = "tz=Asia/Kathmandu"  # UTC+5:45: the most expensive kind of zone, because its hours are never hours of UTC


def measure_pages(address: str, slug: str, key: str, pages: Mapping[str, str]) -> Iterator[Row]:
    """Measure in turns all pages and a view that does nothing, so that a slow moment of the machine affects all."""
    urls = {name: f"{address}/w/{slug}/production/{page}" for name, page in pages.items()}
    times: dict[str, list[float]] = {name: [] for name in (BARE, *pages)}
    for _ in range(ROUNDS + 1):
        for name, url in {BARE: f"{address}/healthz", **urls}.items():
            times[name].append(measure_seconds(url, key) * 1000)
    _, *bare_times = times.pop(BARE)
    reference = f"{BARE}: median {percentile(bare_times, 0.5):.0f} ms, p95 {percentile(bare_times, 0.95):.0f} ms"
    for name, (first_time, *later_times) in times.items():
        figures = f"median {percentile(later_times, 0.5):.0f} ms, first {first_time:.0f} ms"
        yield Row(f"page {name}, p95", figures, reference, percentile(later_times, 0.95), GOAL, "ms")
