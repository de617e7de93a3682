"""PgBouncer in transaction mode, in front of the embedded server of the test run."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from hub.local.postgresql.programs import find_user_prefix
from tests.hub.hub_process import free_port

# Transactions take turns on three server connections, so a session does not find the state of an earlier transaction.
CONFIGURATION = """\
[databases]
* = host={HOST} user={USER} password={PASSWORD}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_round_robin = 1
min_pool_size = 3
default_pool_size = 20
"""


@contextmanager
def running_pooler(folder: Path, server: dict[str, Any]) -> Iterator[int]:
    """Run PgBouncer until the end of the block; yield its port.

    server: Django's settings of the database behind it.
    """
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if program is None:
        pytest.skip("PgBouncer is not installed")
    port = free_port()
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(CONFIGURATION.format(port=port, **server))
    with (folder / "pgbouncer.log").open("wb") as log:
        process = subprocess.Popen([*find_user_prefix(), program, str(configuration)], stdout=log, stderr=log)
    try:
        wait_for_port(port, seconds=10)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=10)


def wait_for_port(port: int, *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@contextmanager
def connect_through_pooler(folder: Path) -> Iterator[None]:
    """Send the statements of this process through PgBouncer until the end of the block."""
    own_settings = dict(connection.settings_dict)
    with running_pooler(folder, own_settings) as port:
        connection.close()
        options = {**own_settings["OPTIONS"], "prepare_threshold": None}  # as DATABASE_PREPARE=false does
        connection.settings_dict.update(HOST="127.0.0.1", PORT=str(port), USER="x", PASSWORD="x", OPTIONS=options)
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict.update(own_settings)
