"""A real HTTP server on loopback that answers as scripted, misbehaviour included."""

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Step = Callable[["Handler"], None]


@dataclass(frozen=True)
class ReceivedRequest:
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    connection: int  # the client's port, which is the same for all requests over one connection

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "Server"
    received: ReceivedRequest  # the request that is being answered

    def do_GET(self) -> None:
        self._record_and_answer()

    def do_POST(self) -> None:
        self._record_and_answer()

    def _record_and_answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.received = ReceivedRequest(self.command, self.path, headers, body, self.client_address[1])
        self.server.received.append(self.received)
        self.server.next_step()(self)

    def log_message(self, *_: object) -> None:
        """Print nothing on the test's standard error."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, steps: tuple[Step, ...], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.received: list[ReceivedRequest] = []
        self.steps = list(steps)

    def next_step(self) -> Step:
        """Return the next of the steps; the last one is repeated."""
        return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]

    def handle_error(self, *_: object) -> None:
        """Ignore errors: many tests make the client hang up."""


class ScriptedHub:
    """A server that answers each request by its next step.

    Use it as `with ScriptedHub(reset(), answer(200, {})) as hub:`, then read `hub.url` and `hub.received`.
    """

    def __init__(self, *steps: Step, certificate: Path | None = None, port: int = 0) -> None:
        """Serve on a free port, unless `port` names one.

        certificate: a PEM file of certificate and private key; with it the server speaks TLS.
        """
        self.server = Server(steps, port)
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self.server.server_address[1]}"
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if certificate:
            self.context.load_cert_chain(certificate)
            # The thread of a connection does the handshake, so that a client that breaks it off does not end `accept`.
            self.server.socket = self.context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )

    @property
    def received(self) -> list[ReceivedRequest]:
        return self.server.received

    def __enter__(self) -> "ScriptedHub":
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def answer(status: int, body: Any = None, *, hang_up: bool = False, **headers: str) -> Step:
    """Return a step that answers a request.

    body: bytes, or a value to send as JSON.
    hang_up: close the connection afterwards, without announcing it.
    """
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()

    def step(handler: Handler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(raw)
        handler.close_connection = hang_up or handler.close_connection

    return step


def problem(status: int, code: str, detail: str, **extra: Any) -> Step:
    headers = {name: extra.pop(name) for name in list(extra) if name[0].isupper()}
    document = {"title": code, "status": status, "code": code, "detail": detail, **extra}
    return answer(status, document, **headers)


def reset() -> Step:
    """Return a step that ends the connection with a TCP reset, without an answer."""

    def step(handler: Handler) -> None:
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        handler.close_connection = True

    return step


def silent(seconds: float) -> Step:
    def step(handler: Handler) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return step


def raw(data: bytes) -> Step:
    """Return a step that sends these bytes instead of an HTTP answer, then hangs up."""

    def step(handler: Handler) -> None:
        handler.wfile.write(data)
        handler.close_connection = True

    return step


def drip(data: bytes, *, pause: float = 0.02) -> Step:
    """Return a step that sends these bytes, then spaces for ever: one at a time, until the client hangs up."""

    def step(handler: Handler) -> None:
        handler.wfile.write(data)
        while True:
            handler.wfile.write(b" ")
            time.sleep(pause)

    return step
