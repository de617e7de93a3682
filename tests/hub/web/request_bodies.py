"""Bodies that arrive in pieces, for the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any


def receive_pieces(pieces: Iterable[bytes], pause: float = 0, *, ends: bool = True) -> Callable[[], Awaitable[Any]]:
    """Return an ASGI `receive` of these pieces in turn. After the last piece it waits for ever, unless `ends`."""
    messages = iter([{"type": "http.request", "body": piece, "more_body": True} for piece in pieces])

    async def receive() -> Any:
        await asyncio.sleep(pause)
        if message := next(messages, None):
            return message
        if not ends:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b"", "more_body": False}

    return receive
