"""The application that the web server runs.

Django runs in a few threads, and a client that sends its body or reads its answer slowly must not occupy one. So a
thread is taken only after the whole body has arrived, for which there is a deadline.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from wire.http.body import BODY_BROKEN, BODY_TOO_SLOW, MAX_BODY_BYTES
from wire.http.problems import Problem, build_document

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Environ = dict[str, Any]
Headers = list[tuple[bytes, bytes]]

THREADS = 4
# How many threads answers to addresses that begin like this may use, so that other requests are answered meanwhile:
# downloads take seconds to compute, and signing in waits for the OpenID Connect provider.
SLOW_PATHS = {"/api/catalog": 2, "/account/oidc": 1}
BODY_SECONDS = 60  # for a whole body
GRACE_SECONDS = 10  # before the minimum rate of a body applies
MIN_BYTES_PER_SECOND = 16 * 1024
MAX_DISCARDED = 64 * 1024 * 1024  # bytes of a too large body that are read: a client sees no answer while it sends
MAX_BUFFERED = 512 * 1024 * 1024  # bytes of all bodies that a process is receiving
STREAMS = 16  # answers that are generated while they are sent, such as a CSV of all rows; each occupies a thread
HEADERS_OF_CONTENT = frozenset({b"content-type", b"content-disposition", b"content-length", b"etag"})
STALL_SECONDS = 20  # how long a client may take for the next piece of a streamed answer
PIECE = 64 * 1024


class BodyTooSlow(Exception):
    """The client sends more slowly than the deadline or minimum rate allows, or too many bytes are buffered already."""


class ClientGone(Exception):
    """The client closed its connection before the answer was complete."""


class BodyBroken(Exception):
    """The client has gone, or the server cannot read the body: a chunk's size is no number, for example.

    The server does not distinguish these two cases. So the hub answers in both; a client that has gone sees no answer.
    """


@dataclass
class Buffer:
    """The number of bytes of all request bodies that are being received."""

    size: int = 0


async def read_body(receive: Receive, buffer: Buffer) -> bytes:
    """Return the body, cut after MAX_BODY_BYTES + 1 bytes if it is too large.

    Raise BodyTooSlow or BodyBroken.
    """
    body = bytearray()
    received_bytes = 0
    start_time = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(GRACE_SECONDS) as deadline:
            while received_bytes <= MAX_DISCARDED:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise BodyBroken
                piece = message.get("body", b"")
                received_bytes += len(piece)
                prefix = piece[: MAX_BODY_BYTES + 1 - len(body)]
                body += prefix
                buffer.size += len(prefix)
                if not message.get("more_body"):
                    break
                if buffer.size > MAX_BUFFERED:
                    raise BodyTooSlow
                seconds = min(BODY_SECONDS, GRACE_SECONDS + received_bytes / MIN_BYTES_PER_SECOND)
                deadline.reschedule(start_time + seconds)
    except TimeoutError:
        raise BodyTooSlow from None
    finally:
        buffer.size -= len(body)
    return bytes(body)


def build_environ(scope: Mapping[str, Any], body: bytes) -> Environ:
    """Return the WSGI environment of a request whose body has been read (PEP 3333)."""
    server, client = scope.get("server") or ("", 0), scope.get("client") or ("", 0)
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": WholeFile,
    }
    for name, value in scope["headers"]:
        if b"_" in name or name in {b"content-length", b"transfer-encoding"}:
            continue  # an underscore would look like a dash in a key of the environment; the body's length is set above
        key = name.decode("latin-1").upper().replace("-", "_")
        key = key if key == "CONTENT_TYPE" else f"HTTP_{key}"
        text = value.decode("latin-1")
        environ[key] = f"{environ[key]},{text}" if key in environ else text
    return environ


class WholeFile:
    """The `wsgi.file_wrapper` in which Django's FileResponse passes a file instead of its pieces (PEP 3333)."""

    def __init__(self, file: Any, block_size: int = PIECE) -> None:
        self.file, self.block_size = file, block_size

    @property
    def path(self) -> str | None:
        """Return the file's path, if it is one that the server can open itself."""
        name = getattr(self.file, "name", None)
        return name if isinstance(name, str) and os.path.isabs(name) else None

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.file.read(self.block_size):
            yield piece

    def close(self) -> None:
        self.file.close()


@dataclass
class Answer:
    """The head of an answer and its body. The body is bytes or the path of a file, unless it is streamed."""

    status: int
    headers: Headers
    body: bytes = b""
    path: str | None = None


class Application:
    """An ASGI application that awaits bodies, and runs a WSGI application in threads."""

    def __init__(self, wsgi: Callable[..., Iterable[bytes]], threads: int = THREADS) -> None:
        self.wsgi = wsgi
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads + STREAMS, thread_name_prefix="request")
        self.streams = threading.Semaphore(STREAMS)
        self.slots = asyncio.Semaphore(threads)
        self.slow_slots = {path: asyncio.Semaphore(threads) for path, threads in SLOW_PATHS.items()}
        self.buffer = Buffer()

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            environ = build_environ(scope, await read_body(receive, self.buffer))
        except BodyTooSlow:
            environ = build_environ(scope, b"") | {BODY_TOO_SLOW: True}
        except BodyBroken:
            environ = build_environ(scope, b"") | {BODY_BROKEN: True}
        slots = await self.acquire_slots(scope["path"])
        request = Request(self, environ, send, asyncio.get_running_loop(), slots)
        try:
            answer = await request.loop.run_in_executor(self.pool, request.run)
        except ClientGone:
            answer = None
        finally:
            request.release_slots()
        if answer:
            await send_answer(answer, send)

    async def acquire_slots(self, path: str) -> list[asyncio.Semaphore]:
        """Wait until a thread may be used for this path. Return the semaphores to release afterwards."""
        slots: list[asyncio.Semaphore] = []
        try:
            for slot in [*(slots for prefix, slots in self.slow_slots.items() if path.startswith(prefix)), self.slots]:
                await slot.acquire()
                slots.append(slot)
        except BaseException:  # above all a cancellation, when the client has gone
            for slot in slots:
                slot.release()
            raise
        return slots


class Request:
    """One request in its thread."""

    def __init__(
        self, application: Application, environ: Environ, send: Send, loop: asyncio.AbstractEventLoop,
        slots: list[asyncio.Semaphore],
    ) -> None:  # fmt: skip
        self.application = application
        self.environ = environ
        self.send = send
        self.loop = loop
        self.slots = slots

    def run(self) -> Answer | None:
        """Return the answer, or None when it has been sent already, piece by piece."""
        answer = Answer(500, [])

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            answer.status = int(status[:3])
            answer.headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]

        response = self.application.wsgi(self.environ, start_response)
        try:
            if isinstance(response, WholeFile) and response.path:
                answer.path = response.path
            elif getattr(response, "streaming", False) or isinstance(response, WholeFile):
                if not self.application.streams.acquire(blocking=False):
                    return refuse_stream(answer)
                self.stream(answer, response)
                return None
            else:
                answer.body = b"".join(response)
            return answer
        finally:
            if close := getattr(response, "close", None):
                close()

    def stream(self, answer: Answer, pieces: Iterable[bytes]) -> None:
        """Send a streamed answer. Its slots are released first, so that another request can use them meanwhile."""
        try:
            self.loop.call_soon_threadsafe(self.release_slots)
            self.await_sent({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            for piece in gather(pieces):
                self.await_sent({"type": "http.response.body", "body": piece, "more_body": True})
            self.await_sent({"type": "http.response.body", "body": b""})
        finally:
            self.application.streams.release()

    def await_sent(self, message: Message) -> None:
        """Wait until the client has taken enough of what was sent before. Raise ClientGone if it stalls or has gone."""
        sending = asyncio.run_coroutine_threadsafe(asyncio.wait_for(self.send(message), STALL_SECONDS), self.loop)
        try:
            sending.result()
        except Exception as error:  # each server has its own error for a connection that is closed
            raise ClientGone from error

    def release_slots(self) -> None:
        while self.slots:
            self.slots.pop().release()


def refuse_stream(answer: Answer) -> Answer:
    """Return a 429 in place of a streamed answer: waiting for a free stream would occupy a thread that others need."""
    detail = "Too many downloads are being sent at once. Read those that you have begun, then try again."
    request_id = dict(answer.headers).get(b"x-request-id", b"").decode()
    document = {**build_document(Problem("rate-limited", detail)), "requestId": request_id}
    headers = [(name, value) for name, value in answer.headers if name not in HEADERS_OF_CONTENT]
    own_headers = [(b"content-type", b"application/problem+json"), (b"retry-after", b"%d" % STALL_SECONDS)]
    return Answer(429, [*headers, *own_headers], json.dumps(document).encode())


def gather(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Join small pieces until they have PIECE bytes or more, because sending each takes a turn of the event loop."""
    chunk = bytearray()
    for piece in pieces:
        if not chunk and len(piece) >= PIECE:
            yield piece
            continue
        chunk += piece
        if len(chunk) >= PIECE:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)


async def send_answer(answer: Answer, send: Send) -> None:
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    if answer.path:
        await send({"type": "http.response.pathsend", "path": answer.path})
    else:
        await send({"type": "http.response.body", "body": answer.body})


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
application = Application(get_wsgi_application())

# Load every view now instead of at the first request, and exempt the loaded code from garbage collection: a full
# collection delayed the request during which it ran by some 70 ms.
import_module(settings.ROOT_URLCONF)
gc.collect()
gc.freeze()
# A body of 4 MiB may become millions of objects, and most of the time to parse it went into collections.
gc.set_threshold(50_000, 20, 100)
