"""A cheap HTTP client: prepared requests over connections that stay open, one process per client."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import socket
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bench.hub.data.outcomes import RUN
from bench.hub.data.workspaces import BenchWorkspace

FORK = multiprocessing.get_context("fork")


@dataclass
class Rate:
    """The durations, in seconds, of all requests that were sent within a period of `seconds`."""

    seconds: float
    times: list[float] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.times)

    @property
    def per_second(self) -> float:
        return self.count / self.seconds


def make_poster(
    workspace: BenchWorkspace, size: int, name: str, *, client: int = 0, clients: int = 1
) -> Callable[[], bytes]:
    """Return a function that builds requests, each reporting `size` new outcomes of one key for known conversations.

    Several clients may report the same key, each for its own share of the conversations.
    """
    numbers = itertools.count(client * workspace.conversations // clients // size)

    def make_request() -> bytes:
        begin = next(numbers) * size
        ids = (f"conv-{1 + (begin + n) % workspace.conversations}" for n in range(size))
        key = f"bench-{name}-{RUN}-{begin // workspace.conversations}"
        body = json.dumps(
            {"outcomes": [{"conversationId": conversation_id, "outcomeKey": key} for conversation_id in ids]}
        )
        headers = f"x-service-api-key: {workspace.key}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        return f"POST /api/conversation-outcomes HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n{body}".encode()

    return make_request


def measure_rate(addresses: Sequence[str], clients: Sequence[Callable[[], bytes]], seconds: float) -> Rate:
    """Run all clients at once for some seconds, each at one address. Raise RuntimeError if any response is not 2xx."""
    with FORK.Pool(len(clients), _initialize_worker, (addresses, clients, seconds)) as pool:
        times_by_client = pool.map(_run_client, range(len(clients)), chunksize=1)
    return Rate(seconds, [duration for part in times_by_client for duration in part])


def _initialize_worker(addresses: Sequence[str], clients: Sequence[Callable[[], bytes]], seconds: float) -> None:
    global _client_settings  # a forked worker inherits them; functions cannot be pickled
    _client_settings = (addresses, clients, seconds)


def _run_client(number: int) -> list[float]:
    addresses, clients, seconds = _client_settings
    target, durations = urlsplit(addresses[number % len(addresses)]), list[float]()
    with socket.create_connection((target.hostname or "", target.port or 80)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        deadline = time.perf_counter() + seconds
        while (start := time.perf_counter()) < deadline:
            request = clients[number]()
            sending = time.perf_counter()
            connection.sendall(request)
            _read_response(connection)
            durations.append(time.perf_counter() - (sending if len(request) > 1000 else start))
    return durations


def send_request(address: str, request: bytes) -> None:
    """Send one request over a connection of its own. Raise RuntimeError unless the response is 2xx."""
    target = urlsplit(address)
    with socket.create_connection((target.hostname or "", target.port or 80)) as connection:
        connection.sendall(request)
        _read_response(connection)


def _read_response(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _receive(connection)
    headers, _, body = data.partition(b"\r\n\r\n")
    if not headers.startswith(b"HTTP/1.1 2"):
        # Not SystemExit: it would end a worker of a pool, which waits for the worker's result for ever.
        raise RuntimeError(f"Expected 2xx, got: {headers.splitlines()[0].decode()}")
    lengths = [line for line in headers.lower().splitlines() if line.startswith(b"content-length:")]
    remaining = int(lengths[0].split(b":")[1]) - len(body)
    while remaining > 0:
        remaining -= len(_receive(connection))


def _receive(connection: socket.socket) -> bytes:
    if data := connection.recv(65536):
        return data
    raise RuntimeError("The hub closed the connection within its response.")


def build_request(address: str, key: str) -> urllib.request.Request:
    return urllib.request.Request(address, headers={"x-service-api-key": key})


def measure_seconds(address: str, key: str) -> float:
    start = time.perf_counter()
    with urllib.request.urlopen(build_request(address, key), timeout=120) as response:
        response.read()
    return time.perf_counter() - start


def count_lines(address: str, key: str) -> int:
    """Return the number of lines of the response."""
    lines = 0
    with urllib.request.urlopen(build_request(address, key), timeout=3600) as response:
        while chunk := response.read(1 << 20):
            lines += chunk.count(b"\n")
    return lines
