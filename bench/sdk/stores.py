"""Measure the SQLite stores.

They are compared with the same writes by bare sqlite3. Several processes on one file are compared with one process.
A protected call writes three times: it burns its nonce, claims its toolCallId, and keeps its response.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from affidavit import MemoryDeliveries, MemoryNonces, SqliteDeliveries, SqliteNonces, StoredResponse
from affidavit._intents.nonces import BURN, CREATE_NONCES, INDEX_NONCES
from affidavit._protection.deliveries import Claim
from affidavit._protection.sql_deliveries import CREATE_DELIVERIES, INDEX_DELIVERIES
from bench._support.measure import measure_medians
from bench._support.result_table import Row, print_table

LIMIT_BARE = 1.6
LIMIT_PROCESSES = 1.6
PROCESSES, CALLS = 4, 500
RESPONSE = StoredResponse(201, (("Content-Type", "application/json"),), b'{"id": 17}' * 20)

_numbers = itertools.count()


def build_caller(nonces: Any, deliveries: Any) -> Callable[[], None]:
    """Return a function that makes the three writes of a protected call in these stores."""

    def call() -> None:
        name, now = f"{next(_numbers)}", time.time()
        if not nonces.burn("w", name, now + 300, now=now):
            raise AssertionError("a new nonce did not pass")
        claim = deliveries.claim("w", name, "1" * 64, now=now)
        if not isinstance(claim, Claim) or not deliveries.finish(claim, RESPONSE, now=now):
            raise AssertionError("a new call did not run")

    return call


def build_bare_caller(path: Path) -> Callable[[], None]:
    """Return a function that writes the same rows in three transactions of sqlite3, with the same journal mode."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
        CREATE_NONCES, INDEX_NONCES, CREATE_DELIVERIES, INDEX_DELIVERIES,
    ):  # fmt: skip
        connection.execute(statement)
    claim = "INSERT INTO affidavit_deliveries VALUES (?, ?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING"
    finish = "UPDATE affidavit_deliveries SET response = ?, keep_until = ? WHERE delivery_key = ? AND owner = ?"
    text = RESPONSE.to_text()

    def call() -> None:
        key, now = f"{next(_numbers):064}", time.time()
        connection.execute(BURN, (key, now + 600))
        connection.execute(claim, (key, "1" * 64, "2" * 32, now + 60, now + 86_400))
        connection.execute(finish, (text, now + 86_400, key, "2" * 32))

    return call


def measure_one_process(folder: Path) -> Iterator[Row]:
    path = folder / "stores.sqlite"
    times = measure_medians(
        {
            "sqlite": build_caller(SqliteNonces(path), SqliteDeliveries(path)),
            "bare": build_bare_caller(folder / "bare.sqlite"),
            "memory": build_caller(
                MemoryNonces(several_workers=True), MemoryDeliveries(limit=1_000_000, several_workers=True)
            ),
        }
    )
    for label, name in (("SQLite stores, one process", "sqlite"), ("memory stores", "memory")):
        measured, reference = (
            f"{times[name]:.0f} µs, {1e6 / times[name]:.0f} calls/s",
            f"sqlite3 {times['bare']:.0f} µs",
        )
        yield Row(label, measured, reference, times[name] / times["bare"], LIMIT_BARE if name == "sqlite" else None)


def measure_processes(folder: Path) -> Row:
    """Compare the calls/s of several processes on one file with those of one process."""
    single, several = (_measure_rate(folder / f"{count}.sqlite", count) for count in (1, PROCESSES))
    label = f"SQLite stores, {PROCESSES} processes"
    return Row(label, f"{several:.0f} calls/s", f"one process {single:.0f}", single / several, LIMIT_PROCESSES)


def _measure_rate(path: Path, processes: int) -> float:
    context = multiprocessing.get_context("fork")
    start = context.Barrier(processes + 1)

    def work(number: int) -> None:
        call = build_caller(SqliteNonces(path), SqliteDeliveries(path))
        for _ in range(number * 1_000_000):
            next(_numbers)
        start.wait()
        for _ in range(CALLS):
            call()

    workers = [context.Process(target=work, args=(number,)) for number in range(processes)]
    for worker in workers:
        worker.start()
    start.wait()
    began = time.perf_counter()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise AssertionError("a worker failed")
    return processes * CALLS / (time.perf_counter() - began)


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from measure_one_process(Path(folder))
        yield measure_processes(Path(folder))


if __name__ == "__main__":
    print_table(rows())
