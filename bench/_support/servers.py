"""Small apps behind real servers, with or without Affidavit's middleware, under load from this process.

The requests per second of a busy server depend on what else the machine does. That is why the figure is the server's
processor time per request. The variants of one app get their load in turns.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import flask
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from affidavit import IntentVerifier, Json, MemoryDeliveries, MemoryNonces, Protection, Witness, make_key
from affidavit.contrib import asgi, wsgi
from bench.sdk.intents import AUDIENCE, SECRET, WORKSPACE

CONNECTIONS = 8
REQUESTS = 2_000
"""Requests in each round."""
ROUNDS = 8
_TICKS = os.sysconf("SC_CLK_TCK")
ANSWER = {"id": 17, "total": 12.5, "paid": True}
SERVERS = {
    "uvicorn": "uvicorn --log-level critical --no-access-log --lifespan off bench._support.servers:asgi_app",
    "gunicorn": "gunicorn --log-level critical -k gthread --threads 4 --keep-alive 60 bench._support.servers:wsgi_app",
}


class _AcceptAllHub:
    """A hub without rules that accepts every report."""

    def get_json(self, path: str, headers: Mapping[str, str]) -> Json:
        return {"rules": []}

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Json:
        return {"accepted": 1, "reportId": "x"}


def _build_protection() -> Protection:
    verifier = IntentVerifier(
        secrets=SECRET, workspace=WORKSPACE, audience=AUDIENCE, nonces=MemoryNonces(several_workers=True)
    )
    return Protection(verifier, MemoryDeliveries(several_workers=True))


def _wrap(app: Any, adapter: Any) -> Any:
    """Return the app inside the middleware that the environment variable BENCH_VARIANT names; bare if it names none."""
    variant = os.environ.get("BENCH_VARIANT")
    if variant == "witness":
        return adapter.WitnessMiddleware(app, Witness(make_key("gak_"), transport=_AcceptAllHub()))
    return adapter.IntentMiddleware(app, _build_protection()) if variant == "protection" else app


async def _show(request: Request) -> JSONResponse:
    return JSONResponse(ANSWER)


async def _create(request: Request) -> JSONResponse:
    return JSONResponse(ANSWER if await request.json() else None)


def _build_flask() -> flask.Flask:
    app = flask.Flask("shop")

    @app.get("/orders/<int:order_id>")
    def show(order_id: int) -> Mapping[str, Json]:
        return ANSWER

    @app.post("/orders")
    def create() -> Mapping[str, Json]:
        return ANSWER if flask.request.get_json() else {}

    return app


_ROUTES = [Route("/orders/{order_id:int}", _show), Route("/orders", _create, methods=["POST"])]
asgi_app = _wrap(Starlette(routes=_ROUTES), asgi)
wsgi_app = _wrap(_build_flask(), wsgi)


class _Server(NamedTuple):
    process: subprocess.Popen[bytes]
    port: int

    def read_seconds(self) -> float:
        """Return the processor time of the server and its workers so far."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return sum(_read_seconds(pid) for pid in [self.process.pid, *map(int, children)])


def _read_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def _serve(server: str, variant: str) -> Iterator[_Server]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    address = ["--port", str(port)] if server == "uvicorn" else ["--bind", f"127.0.0.1:{port}"]
    command = [sys.executable, "-m", *SERVERS[server].split(), *address]
    process = subprocess.Popen(command, env={**os.environ, "BENCH_VARIANT": variant})
    try:
        _wait_for(port)
        yield _Server(process, port)
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


def measure_servers(server: str, variants: Mapping[str, Sequence[bytes]]) -> dict[str, float]:
    """Return the microseconds of processor time per request of each variant.

    variants: the requests for each variant: REQUESTS * (ROUNDS + 1) of them, or a single one that may be repeated.
    """
    with ExitStack() as stack:
        servers = {variant: stack.enter_context(_serve(server, variant)) for variant in variants}
        sources = {variant: _repeat(requests) for variant, requests in variants.items()}
        seconds = dict.fromkeys(variants, 0.0)
        for round_number in range(ROUNDS + 1):
            for variant, target in servers.items():
                requests = [next(sources[variant]) for _ in range(REQUESTS)]
                before = target.read_seconds()
                asyncio.run(_send_all(target.port, requests))
                if round_number:  # the first round only warms up
                    seconds[variant] += target.read_seconds() - before
    return {variant: total / (ROUNDS * REQUESTS) * 1e6 for variant, total in seconds.items()}


def _repeat(requests: Sequence[bytes]) -> Iterator[bytes]:
    if len(requests) > 1:
        yield from requests
    while True:
        yield requests[0]


async def _send_all(port: int, requests: Sequence[bytes]) -> None:
    await asyncio.gather(*(_send_in_turn(port, requests[start::CONNECTIONS]) for start in range(CONNECTIONS)))


async def _send_in_turn(port: int, requests: Sequence[bytes]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request in requests:
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith((b"http/1.1 200",)):
            raise AssertionError(head.decode())
        _, _, length = head.partition(b"content-length: ")
        await reader.readexactly(int(length.partition(b"\r\n")[0]))
    writer.close()
    await writer.wait_closed()


def build_request(method: str, path: str, body: bytes = b"", intent: str = "") -> bytes:
    """Return a request of HTTP/1.1, as a program sends it."""
    lines = [f"{method} {path} HTTP/1.1", "Host: shop.example", "Accept: application/json", "User-Agent: bench"]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    if intent:
        lines.append(f"X-Service-Intent: {intent}")
    return "\r\n".join([*lines, "", ""]).encode() + body
