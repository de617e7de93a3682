"""Run a hub for a benchmark."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def run_hub(folder: Path) -> Iterator[str]:
    """Run a hub with its data in this folder, as `make run` starts it; yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ.update(HUB_DATA_DIR=str(folder), HUB_PORT=str(port), HUB_SAMPLE="0")
    os.environ.setdefault("RATE_LIMIT", "0")
    process = subprocess.Popen([sys.executable, "manage.py", "up"], stdout=subprocess.DEVNULL)
    try:
        yield wait_until_ready(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(60)


def wait_until_ready(address: str) -> str:
    for _ in range(1200):
        try:
            with urllib.request.urlopen(f"{address}/readyz", timeout=2):
                return address
        except OSError:
            time.sleep(0.05)
    raise SystemExit("The hub did not start within a minute.")
