"""Measure how much slow clients cost others.

The figure is the requests per second without slow clients, divided by those while 200 clients send byte by byte.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from bench._support.hub_client import make_poster, measure_rate
from bench._support.result_table import Row, print_table
from bench._support.run_hub import run_hub
from bench.hub.data.outcomes import load_workspaces

SLOW_CLIENTS = 200
TURNS, SECONDS, CLIENTS = 10, 3.0, 4
PAUSE = 0.5  # seconds between two bytes of one slow client
CONVERSATIONS = 2_000
HEAD = b"POST /api/conversation-outcomes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"


def open_slow_client(address: str) -> socket.socket:
    target = urlsplit(address)
    connection = socket.create_connection((target.hostname or "", target.port or 80))
    connection.sendall(HEAD)
    return connection


@contextmanager
def run_slow_clients(address: str) -> Iterator[None]:
    """Keep SLOW_CLIENTS sending; a client that the hub cuts off connects again."""
    stop = threading.Event()
    connections = [open_slow_client(address) for _ in range(SLOW_CLIENTS)]

    def send() -> None:
        while not stop.wait(PAUSE):
            for number, connection in enumerate(connections):
                try:
                    connection.sendall(b"x")
                except OSError:
                    connection.close()
                    connections[number] = open_slow_client(address)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        for connection in connections:
            with suppress(OSError):
                connection.close()


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="affidavit-bench-"))
    os.environ["RATE_LIMIT"] = os.environ["ADDRESS_RATE_LIMIT"] = "0"  # here all clients have one address
    rates_alone, rates_beside = list[float](), list[float]()
    try:
        with run_hub(folder) as address:
            (workspace,) = load_workspaces([CONVERSATIONS], folder)

            def measure(name: str) -> float:
                clients = [make_poster(workspace, 1, name, client=n, clients=CLIENTS) for n in range(CLIENTS)]
                return measure_rate([address], clients, SECONDS).per_second

            for turn in range(TURNS):
                rates_alone.append(measure(f"alone-{turn}"))
                with run_slow_clients(address):
                    rates_beside.append(measure(f"beside-{turn}"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    alone, beside = statistics.median(rates_alone), statistics.median(rates_beside)
    labels = f"{beside:,.0f}/s beside them", f"{alone:,.0f}/s alone"
    print_table([Row(f"alone ÷ beside {SLOW_CLIENTS} slow clients", *labels, alone / beside, 1 / 0.8)])


if __name__ == "__main__":
    main()
