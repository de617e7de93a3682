"""Measure the time and memory that hostile bodies cost, on the machine endpoints of `list_endpoints`.

The limits are ten times the time of a valid full batch, and 300 MB more memory in a web process. An endpoint that takes
no batch is compared with a batch of 500 outcomes. Then a random search looks for slower bodies. It takes
BENCH_SEARCH_SECONDS (default 30) for all endpoints together, and its seed is BENCH_SEARCH_SEED (default 1).
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from bench._support.result_table import Row, print_table
from bench._support.run_hub import run_hub
from bench.hub.data.hostile_bodies import Body, Endpoint, Recipe, choose_recipe, list_endpoints, list_known, mutate

SEARCH_SECONDS = float(os.environ.get("BENCH_SEARCH_SECONDS", "30"))
SEED = int(os.environ.get("BENCH_SEARCH_SEED", "1"))
ROUNDS = 5
LIMIT_RATIO, LIMIT_MEGABYTES = 10, 300
KEPT = 4  # how many of the slowest bodies of an endpoint the search continues to change


class Caller:
    """Sends bodies to a hub, one after the other."""

    def __init__(self, address: str, key: str, folder: Path) -> None:
        parts = urlsplit(address)
        self.host, self.port = parts.hostname or "", parts.port or 80
        self.key = key
        self.web_processes = find_web_processes(folder)

    def post(self, path: str, body: Body) -> tuple[float, int, bytes]:
        """Return the seconds until the answer has been read, its status and its body."""
        headers = {"x-service-api-key": self.key, "Content-Type": "application/json", **body.headers}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=300)
        try:
            start = time.perf_counter()
            connection.request("POST", path, body.raw, headers)
            response = connection.getresponse()
            content = response.read()
            return time.perf_counter() - start, response.status, content
        finally:
            connection.close()

    def measure_peak(self, path: str, body: Body) -> float:
        """Return how much the memory of a web process grew at most while the hub answered, in megabytes."""
        before = {}
        for pid in self.web_processes:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # set the peak back to the present memory
            before[pid] = read_memory(pid, "VmRSS")
        self.post(path, body)
        return max(read_memory(pid, "VmHWM") - before[pid] for pid in self.web_processes) / 1000


def find_web_processes(folder: Path) -> list[int]:
    """Return the process ids of the web server of the hub whose data is in this folder."""
    mark, pids = str(folder).encode(), []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_own = mark in (entry / "environ").read_bytes()
            if is_own and b"granian" in (entry / "cmdline").read_bytes() + (entry / "comm").read_bytes():
                pids.append(int(entry.name))
        except OSError:
            continue
    return pids


def read_memory(pid: int, name: str) -> int:
    """Return a figure of a process in kB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:"))


def measure_full(caller: Caller, endpoint: Endpoint) -> float:
    """Return the median seconds of a valid full body."""
    times = []
    for _ in range(ROUNDS):
        seconds, status, content = caller.post(endpoint.path, endpoint.full_body())
        if status >= 300:
            raise SystemExit(f"{endpoint.path}: a full body was answered with {status}: {content[:300]!r}")
        times.append(seconds)
    return statistics.median(times)


def measure_known(caller: Caller, endpoint: Endpoint, full: float) -> Iterator[Row]:
    for name, build in list_known(endpoint).items():
        body = build()
        seconds, status, _ = min(caller.post(endpoint.path, body) for _ in range(2))
        if status >= 500:
            raise SystemExit(f"{endpoint.path}, {name}: {status}")
        reference = f"full: {full * 1000:.0f} ms"
        label = f"{endpoint.path}: {name}"
        yield Row(label, f"{seconds * 1000:.0f} ms, {status}", reference, seconds / full, LIMIT_RATIO)
        if seconds / full > 1:
            peak = caller.measure_peak(endpoint.path, body)
            yield Row(f"{label}, memory", f"{len(body.raw):,} bytes", "", peak, LIMIT_MEGABYTES, "MB")


def search(caller: Caller, endpoint: Endpoint, full: float, seconds: float) -> Iterator[Row]:
    """Mutate the slowest bodies for so many seconds; yield the slowest of all."""
    chance = random.Random(f"{SEED} {endpoint.path}")
    slowest: list[tuple[float, Recipe]] = []
    tried = 0
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        parent = chance.choice(slowest)[1] if slowest and chance.random() < 0.7 else None
        recipe = mutate(parent, chance) if parent else choose_recipe(endpoint, chance)
        took, status, _ = caller.post(endpoint.path, recipe.build())
        if status >= 500:
            raise SystemExit(f"{recipe.label}: {status}")
        tried += 1
        slowest = sorted([*slowest, (took, recipe)], key=lambda entry: -entry[0])[:KEPT]
    again = [(min(caller.post(endpoint.path, recipe.build())[0] for _ in range(2)), recipe) for _, recipe in slowest]
    took, recipe = max(again, key=lambda entry: entry[0])
    yield Row(f"slowest of {tried}: {recipe.label}", f"{took * 1000:.0f} ms", "", took / full, LIMIT_RATIO)


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="affidavit-bench-"))
    try:
        with run_hub(folder) as address:
            command = [sys.executable, "manage.py", "create_workspace", "--json", "--full-key", "Work"]
            created = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            caller = Caller(address, created["secretKey"], folder)
            minted = caller.post("/api/intents", Body(b'{"sub": "u", "operation": "GET /orders", "args": {}}'))[2]
            endpoints = list_endpoints(json.loads(minted)["header"])
            rows = []
            full_batch = measure_full(caller, endpoints[0])
            for endpoint in endpoints:
                full = measure_full(caller, endpoint) if endpoint.batch else full_batch
                rows += measure_known(caller, endpoint, full)
                rows += search(caller, endpoint, full, SEARCH_SECONDS / len(endpoints))
            print_table(rows)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
