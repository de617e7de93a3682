"""Receive the body of a request: within a deadline, at a minimum rate, and within a limit of memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from hub.web.messages import Receive
from wire.http.body import MAX_BODY_BYTES

BODY_SECONDS = 60  # for a whole body
GRACE_SECONDS = 10  # before the minimum rate of a body applies
MIN_BYTES_PER_SECOND = 16 * 1024
MAX_DISCARDED = 64 * 1024 * 1024  # bytes of a too large body that are read: a client sees no answer while it sends
MAX_BUFFERED = 512 * 1024 * 1024  # bytes of all bodies that a process is receiving


class BodyTooSlow(Exception):
    """The client sends more slowly than the deadline or minimum rate allows, or too many bytes are buffered already."""


class BodyBroken(Exception):
    """The client has gone, or the server cannot read the body: a chunk's size is no number, for example.

    The server does not distinguish these two cases. So the hub answers in both; a client that has gone sees no answer.
    """


@dataclass
class Buffer:
    """The number of bytes of all request bodies that are being received."""

    size: int = 0


async def receive_body(receive: Receive, buffer: Buffer) -> bytes:
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
