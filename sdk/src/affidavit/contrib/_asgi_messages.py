"""The two streams of an ASGI request: its body, read by verifier and app alike, and its response, held to be kept."""

from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Body:
    """What comes in. The app may read it before, after or never; nothing is kept beyond `limit` bytes."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._chunks: list[bytes] = []
        self._size = 0
        self._is_whole = False
        self._unseen: deque[Message] = deque()

    async def receive(self) -> Message:
        """The app's `receive`: first what was read for it."""
        return self._unseen.popleft() if self._unseen else await self._next()

    async def whole(self) -> bytes | None:
        """All of it, still there for the app to read; None when it is over the limit."""
        while not self._is_whole and self._size <= self._limit:
            self._unseen.append(await self._next())
        return b"".join(self._chunks) if self._size <= self._limit else None

    async def _next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            chunk = message.get("body", b"")
            self._size += len(chunk)
            if self._size <= self._limit:
                self._chunks.append(chunk)
            else:
                self._chunks.clear()
            self._is_whole = not message.get("more_body", False)
        else:  # the caller is gone: nothing more will come
            self._is_whole = True
        return message


class Response:
    """What goes out, held until it is whole, unless it streams or grows beyond `limit` bytes.

    settle: is awaited with status, headers and body (None: not to be kept) before the first byte is sent.
    """

    def __init__(
        self, send: Send, limit: int, settle: Callable[[int, list[tuple[str, str]], bytes | None], Awaitable[None]]
    ) -> None:
        self._send = send
        self._limit = limit
        self._settle = settle
        self._held: list[Message] = []
        self._size = 0
        self._is_open = False

    async def send(self, message: Message) -> None:
        """The app's `send`."""
        is_early = not self._held and message["type"] != "http.response.start"
        if self._is_open or is_early:
            await self._send(message)
            return
        self._held.append(message)
        if message["type"] == "http.response.start":
            if _streams(message):
                await self._open(None)
        elif message["type"] == "http.response.body":
            self._size += len(message.get("body", b""))
            if self._size > self._limit:
                await self._open(None)
            elif not message.get("more_body", False):
                await self._open(b"".join(held.get("body", b"") for held in self._held))
        else:  # an extension: a file by its path, trailers …
            await self._open(None)

    async def _open(self, body: bytes | None) -> None:
        start = self._held[0]
        await self._settle(int(start["status"]), _text(start.get("headers", ())), body)
        self._is_open = True
        for message in self._held:
            await self._send(message)
        self._held.clear()


def _streams(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in start.get("headers", ())
    )


def _text(headers: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
