"""A RabbitMQ of its own for a test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hub.database.pooler import wait_for_port
from tests.hub.hub_process import free_port

FOLDERS = "/usr/lib/rabbitmq/bin:/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin"


@contextmanager
def running_rabbitmq(folder: Path) -> Iterator[int]:
    """Run RabbitMQ until the end of the block; yield its port. Its user is guest with the password guest."""
    program, epmd = shutil.which("rabbitmq-server", path=FOLDERS), shutil.which("epmd")
    if program is None or epmd is None:
        pytest.skip("RabbitMQ is not installed")
    port, names_port = free_port(), str(free_port())
    environment = {
        **os.environ,
        "HOME": str(folder),
        "ERL_EPMD_PORT": names_port,  # Erlang's server of names, which is left when RabbitMQ ends
        "RABBITMQ_NODENAME": f"test{port}@localhost",
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "logs"),
    }
    (folder / "rabbitmq.conf").write_text(f"listeners.tcp.local = 127.0.0.1:{port}\n")
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(program, env=environment, stdout=output, stderr=output, start_new_session=True)
    try:
        wait_for_port(port, seconds=90)
        yield port
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)
        subprocess.run([epmd, "-port", names_port, "-kill"], capture_output=True, check=False)
