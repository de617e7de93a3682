"""The messages of an ASGI app: bodies for verifier and app, responses held until they are complete, the lifespan."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import ExitStack
from typing import Any

from affidavit._hub.process_end import keep_lifespan_open, settle_all

from .event_loop import find_loop

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]

_LIFESPAN_BEGUN = "lifespan.startup.complete"
_LIFESPAN_ENDED = ("lifespan.shutdown.complete", "lifespan.shutdown.failed")


class RequestBody:
    """The body of a request. The app may read it before the verifier, after it or never.

    limit: bytes; of a larger body nothing is kept.
    is_cut_off: whether the client was gone before the whole body had come.
    """

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self.limit = limit
        self._chunks: list[bytes] = []
        self._size = 0
        self._is_whole = self.is_cut_off = False
        self._unread: deque[Message] = deque()
        self._is_receiving = asyncio.Lock()  # the app may wait for a disconnect while the verifier reads

    async def receive(self) -> Message:
        """Receive for the app: first the messages that were read ahead."""
        async with self._is_receiving:
            return self._unread.popleft() if self._unread else self._note(await self._receive())

    async def read_all(self) -> bytes | None:
        """Return the whole body, which the app can still read; None if it is over the limit."""
        while not self._is_whole and self._size <= self.limit:
            async with self._is_receiving:
                if not self._is_whole:  # the app may have received the rest meanwhile
                    self._unread.append(self._note(await self._receive()))
        return b"".join(self._chunks) if self._size <= self.limit else None

    def _note(self, message: Message) -> Message:
        if message["type"] == "http.request":
            chunk = message.get("body", b"")
            self._size += len(chunk)
            if self._size <= self.limit:
                self._chunks.append(chunk)
            else:
                self._chunks.clear()
            self._is_whole = not message.get("more_body", False)
        elif not self._is_whole:  # the client is gone: nothing more will come
            self._is_whole = self.is_cut_off = True
        return message


def list_headers(message: Message) -> Message:
    """Return the start of a response with its headers in a list: Sanic's, for instance, can be read only once."""
    headers = message.get("headers", ())
    return message if isinstance(headers, (list, tuple)) else {**message, "headers": list(headers)}


class HeldResponse:
    """A response, held until it is complete, unless it streams or is over `limit` bytes.

    body: the complete body, None if it is not to be kept.
    """

    __slots__ = ("_has_length", "_limit", "_size", "body", "headers", "messages", "status")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._has_length = False
        self.messages: list[Message] = []
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.body: bytes | None = None

    def hold(self, message: Message) -> bool:
        """Hold one message of the app. Return whether to send all `messages` now, and later ones as they come."""
        if message["type"] == "http.response.start":
            message = list_headers(message)
            self.messages.append(message)
            self.status = int(message["status"])
            return self._note_headers(message.get("headers", ()))
        self.messages.append(message)
        if message["type"] != "http.response.body":  # an extension: a file by its path, trailers …
            return True
        self._size += len(message.get("body", b""))
        if self._size > self._limit:
            return True
        if message.get("more_body", False):
            return not self._has_length  # a stream: the moment of each piece matters
        self.body = b"".join([part.get("body", b"") for part in self.messages])
        return True

    def _note_headers(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Note the headers. Return whether they begin a stream of events, which cannot be held until its end."""
        is_event_stream = False
        for name, value in headers:
            key = name.lower()
            if key == b"content-length":
                self._has_length = True
            elif key == b"content-type":
                is_event_stream = value.startswith(b"text/event-stream")
            self.headers.append((name.decode("latin-1"), value.decode("latin-1")))
        return is_event_stream


async def run_lifespan(app: AsgiApp, scope: Any, receive: Receive, send: Send) -> None:
    """Run the app's lifespan. When it has ended, send what the reporters of this process have not sent yet."""
    with ExitStack() as stack:

        async def settle_before_end(message: Message) -> None:
            if message["type"] == _LIFESPAN_BEGUN:
                stack.enter_context(keep_lifespan_open())
            if message["type"] in _LIFESPAN_ENDED:
                if find_loop() is None:  # another library's, such as trio's: only this end waits
                    settle_all()
                else:
                    await asyncio.to_thread(settle_all)
            await send(message)

        await app(scope, receive, settle_before_end)
