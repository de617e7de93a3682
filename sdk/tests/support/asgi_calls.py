"""Raw ASGI requests, as a server makes them, and tests that await them."""

import asyncio
import functools
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AsgiResponse:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def exchange(
    app: Any,
    method: str,
    target: str,
    headers: Sequence[tuple[str, str]] = (),
    chunks: Sequence[bytes | None] = (b"",),
    **scope: Any,
) -> AsgiResponse:
    """Return the app's response to one request with a body in these chunks; raise the errors of the app.

    A chunk that is None means that the client disconnects.
    """
    path, _, query = target.partition("?")
    requests = [
        {"type": "http.disconnect"}
        if chunk is None
        else {"type": "http.request", "body": chunk, "more_body": number + 1 < len(chunks)}
        for number, chunk in enumerate(chunks)
    ]
    messages: list[Any] = []
    is_answered = asyncio.Event()

    async def receive() -> Any:
        if requests:
            return requests.pop(0)
        await is_answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        messages.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            is_answered.set()

    full_scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "server": ("testserver", 80), "client": ("127.0.0.1", 1), **scope,
    }  # fmt: skip
    await app(full_scope, receive, send)
    return _build_response(messages)


def run_without_asyncio(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that never has to wait. While it runs, asyncio has no event loop, as under trio."""
    with suppress(StopIteration):
        coroutine.send(None)
        raise AssertionError("It waits.")


def _build_response(messages: Sequence[Any]) -> AsgiResponse:
    assert messages[0]["type"] == "http.response.start"
    assert sum(message["type"] == "http.response.start" for message in messages) == 1
    headers = {name.decode().lower(): value.decode() for name, value in messages[0]["headers"]}
    return AsgiResponse(messages[0]["status"], headers, b"".join(message.get("body", b"") for message in messages[1:]))


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async test in a loop of its own, for 30 seconds at most."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 30))

    return run
