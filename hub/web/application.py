"""Run Django in a few threads. A client that sends its body or reads its answer slowly must not occupy one.

So a thread is taken only after the whole body has arrived.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from hub.frame_memory import call_with_frame_memory
from hub.web.environ import PIECE, Environ, WholeFile, build_environ
from hub.web.messages import Message, Receive, Send
from hub.web.receive_body import BodyBroken, BodyTooSlow, Buffer, receive_body
from hub.web.stream_limit import STALL_SECONDS, STREAM_SLOT, STREAMS, StreamSlot
from hub.web.thread_slots import THREADS, ThreadSlots
from wire.http.body import BODY_BROKEN, BODY_TOO_SLOW

Headers = list[tuple[bytes, bytes]]


class ClientGone(Exception):
    """The client closed its connection before the answer was complete."""


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
        self.pool = ThreadPoolExecutor(threads + STREAMS, thread_name_prefix="request")
        self.streams = threading.Semaphore(STREAMS)
        self.slots = ThreadSlots(threads)
        self.buffer = Buffer()

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            environ = build_environ(scope, await receive_body(receive, self.buffer))
        except BodyTooSlow:
            environ = build_environ(scope, b"") | {BODY_TOO_SLOW: True}
        except BodyBroken:
            environ = build_environ(scope, b"") | {BODY_BROKEN: True}
        slots = await self.slots.acquire(scope["path"])
        request = Request(self, environ, send, asyncio.get_running_loop(), slots)
        try:
            answer = await request.loop.run_in_executor(self.pool, call_with_frame_memory, request.run)
        except ClientGone:
            answer = None
        finally:
            request.release_slots()
        if answer:
            await send_answer(answer, send)


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

        stream_slot = StreamSlot(self.application.streams)
        response = self.application.wsgi({**self.environ, STREAM_SLOT: stream_slot}, start_response)
        try:
            if isinstance(response, WholeFile) and response.path:
                answer.path = response.path
            elif getattr(response, "streaming", False) or isinstance(response, WholeFile):
                self.stream(answer, response)
                return None
            else:
                answer.body = b"".join(response)
            return answer
        finally:
            stream_slot.release()
            if close := getattr(response, "close", None):
                close()

    def stream(self, answer: Answer, pieces: Iterable[bytes]) -> None:
        """Send a streamed answer. Its slots are released first, so that another request can use them meanwhile."""
        self.loop.call_soon_threadsafe(self.release_slots)
        self.await_sent({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        for piece in gather(pieces):
            self.await_sent({"type": "http.response.body", "body": piece, "more_body": True})
        self.await_sent({"type": "http.response.body", "body": b""})

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
