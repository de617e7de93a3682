"""The two streams of an ASGI request: its body, for verifier and app alike, and its response, held until complete."""

from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


class RequestBody:
    """The body of a request. The app may read it earlier, later or never; nothing over `limit` bytes is kept."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._chunks: list[bytes] = []
        self._size = 0
        self._is_whole = False
        self._unread: deque[Message] = deque()

    async def receive(self) -> Message:
        """Receive for the app: first the messages that were read ahead."""
        return self._unread.popleft() if self._unread else await self._receive_next()

    async def read_all(self) -> bytes | None:
        """Return the whole body, which the app can still read; None if it is over the limit."""
        while not self._is_whole and self._size <= self._limit:
            self._unread.append(await self._receive_next())
        return b"".join(self._chunks) if self._size <= self._limit else None

    async def _receive_next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            chunk = message.get("body", b"")
            self._size += len(chunk)
            if self._size <= self._limit:
                self._chunks.append(chunk)
            else:
                self._chunks.clear()
            self._is_whole = not message.get("more_body", False)
        else:  # the client is gone: nothing more will come
            self._is_whole = True
        return message


class HeldResponse:
    """A response, held until it is complete, unless it streams or is over `limit` bytes.

    settle: awaited with status, headers and body (None: not to be kept) before the first byte is sent.
    """

    def __init__(
        self, send: Send, limit: int, settle: Callable[[int, list[tuple[str, str]], bytes | None], Awaitable[None]]
    ) -> None:
        self._send = send
        self._limit = limit
        self._settle = settle
        self._messages: list[Message] = []
        self._size = 0
        self._is_released = False

    async def send(self, message: Message) -> None:
        """Send for the app."""
        is_out_of_order = not self._messages and message["type"] != "http.response.start"
        if self._is_released or is_out_of_order:
            await self._send(message)
            return
        self._messages.append(message)
        if message["type"] == "http.response.start":
            if _is_stream(message):
                await self._release(None)
        elif message["type"] == "http.response.body":
            self._size += len(message.get("body", b""))
            if self._size > self._limit:
                await self._release(None)
            elif not message.get("more_body", False):
                await self._release(b"".join(message.get("body", b"") for message in self._messages))
        else:  # an extension: a file by its path, trailers …
            await self._release(None)

    async def _release(self, body: bytes | None) -> None:
        start = self._messages[0]
        await self._settle(int(start["status"]), _decode_headers(start.get("headers", ())), body)
        self._is_released = True
        for message in self._messages:
            await self._send(message)
        self._messages.clear()


def _is_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in start.get("headers", ())
    )


def _decode_headers(headers: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
