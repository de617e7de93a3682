"""A client that costs little: ready-made requests over kept connections, a process for each."""

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

from bench._outcomes_data import RUN, Filled

FORK = multiprocessing.get_context("fork")


@dataclass
class Rate:
    """How long each request took, over so many seconds."""

    seconds: float
    times: list[float] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.times)

    @property
    def per_second(self) -> float:
        return self.count / self.seconds


def posting(filled: Filled, size: int, name: str, *, client: int = 0, clients: int = 1) -> Callable[[], bytes]:
    """Makes requests that each report `size` new outcomes of one key of known conversations.

    Several clients may report the same key, each of its own share of the conversations.
    """
    numbers = itertools.count(client * filled.conversations // clients // size)

    def make() -> bytes:
        begin = next(numbers) * size
        ids = (f"conv-{1 + (begin + n) % filled.conversations}" for n in range(size))
        key = f"bench-{name}-{RUN}-{begin // filled.conversations}"
        body = json.dumps({"outcomes": [{"conversationId": id_, "outcomeKey": key} for id_ in ids]})
        head = f"x-service-api-key: {filled.key}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        return f"POST /api/conversation-outcomes HTTP/1.1\r\nHost: localhost\r\n{head}\r\n\r\n{body}".encode()

    return make


def measured(address: str, clients: Sequence[Callable[[], bytes]], seconds: float) -> Rate:
    """All clients at once for so long; raises SystemExit where any answer is not 200."""
    with FORK.Pool(len(clients), _become_client, (address, clients, seconds)) as pool:
        parts = pool.map(_play, range(len(clients)), chunksize=1)
    return Rate(seconds, [taken for part in parts for taken in part])


def _become_client(address: str, clients: Sequence[Callable[[], bytes]], seconds: float) -> None:
    global _play_as  # what a forked worker was given; functions cannot be sent to it
    _play_as = (address, clients, seconds)


def _play(number: int) -> list[float]:
    address, clients, seconds = _play_as
    url, times = urlsplit(address), list[float]()
    with socket.create_connection((url.hostname or "", url.port or 80)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            request = clients[number]()
            sent = time.perf_counter()
            connection.sendall(request)
            _take_answer(connection)
            times.append(time.perf_counter() - (sent if len(request) > 1000 else began))
    return times


def _take_answer(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"Not answered with 200: {head.splitlines()[0].decode()}")
    lengths = [line for line in head.lower().splitlines() if line.startswith(b"content-length:")]
    left = int(lengths[0].split(b":")[1]) - len(body)
    while left > 0:
        left -= len(connection.recv(65536))


def opened(address: str, key: str) -> urllib.request.Request:
    return urllib.request.Request(address, headers={"x-service-api-key": key})


def seconds_of(address: str, key: str) -> float:
    began = time.perf_counter()
    with urllib.request.urlopen(opened(address, key), timeout=120) as answer:
        answer.read()
    return time.perf_counter() - began


def lines_of(address: str, key: str) -> int:
    """How many lines the answer has."""
    lines = 0
    with urllib.request.urlopen(opened(address, key), timeout=3600) as answer:
        while chunk := answer.read(1 << 20):
            lines += chunk.count(b"\n")
    return lines
