"""The shapes of what an ASGI app answers, copied as they pass (contract 4)."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from affidavit._witness.bodies import BodyCopy, CopiedBody, Unread, is_json
from affidavit._witness.witness import Witness
from affidavit.contrib._asgi_messages import Message, Receive, Send
from affidavit.contrib._asgi_scope import Scope, full_path, header, leads_nowhere, route

App = Callable[[Any, Any, Any], Awaitable[None]]


class WitnessMiddleware:
    """Around an ASGI app: tells `witness` what passes, and changes and delays none of it. Put it outermost.

    In Starlette and FastAPI, what no route leads to is not seen.
    """

    def __init__(self, app: App, witness: Witness) -> None:
        self._app = app
        self._witness = witness

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(self._witness, scope, receive, send)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except Exception:  # whatever the app raised is told as a 500, and goes on
            exchange.tell(failed=True)
            raise
        finally:  # the caller may have gone away halfway
            exchange.tell()


class _Exchange:
    """One request and its response. What is noted of them never gets in their way."""

    def __init__(self, witness: Witness, scope: Scope, receive: Receive, send: Send) -> None:
        self._witness = witness
        self._scope = scope
        self._path = ""
        self._receive, self._send = receive, send
        self._type: str | None = None
        self._request: BodyCopy | None = None
        self._status = 0
        self._headers: dict[bytes, str] = {}
        self._response: BodyCopy | None = None
        self._is_told = False
        with suppress(Exception):  # whatever stands in the scope, the app has to be asked
            self._enter()

    async def receive(self) -> Message:
        """The app's `receive`."""
        message = await self._receive()
        if self._request is not None and message["type"] == "http.request":
            _copy(message, self._request)
        return message

    async def send(self, message: Message) -> None:
        """The app's `send`."""
        await self._send(message)
        if self._is_told:
            return
        if message["type"] == "http.response.start":
            self._start(message)
        elif message["type"] == "http.response.body":
            if self._response is not None:
                _copy(message, self._response)
            if not message.get("more_body", False):
                self.tell()

    def tell(self, *, failed: bool = False) -> None:
        """Once. failed: the app raised; unless it had begun to answer, the server makes a 500 of it."""
        if self._is_told or not (self._status or failed):
            return
        self._is_told = True
        if leads_nowhere(self._scope):
            return
        with suppress(Exception):  # whatever stands in the scope, the answer must not fail because it was watched
            self._witness.observe(
                self._scope["method"], quote(self._path, errors="replace"), self._status or 500,
                route=route(self._scope),
                query=self._scope.get("query_string", b"").decode("latin-1"),
                request_body=self._request_body(),
                request_content_type=self._type,
                request_encoding=header(self._scope, b"content-encoding"),
                response_body=self._response_body(),
                response_content_type=self._headers.get(b"content-type"),
                response_encoding=self._headers.get(b"content-encoding"),
            )  # fmt: skip

    def _enter(self) -> None:
        """Notes what a mount further in changes."""
        self._path = full_path(self._scope)
        self._type = header(self._scope, b"content-type")
        if is_json(self._type or ""):
            self._request = BodyCopy(self._witness.max_body)

    def _start(self, message: Message) -> None:
        with suppress(Exception):  # what the server has taken is none of our business
            self._status = int(message["status"])
            self._headers = {name.lower(): value.decode("latin-1") for name, value in message.get("headers", ())}
            if is_json(self._headers.get(b"content-type", "")):
                self._response = BodyCopy(self._witness.max_body)

    def _request_body(self) -> CopiedBody:
        if self._request is not None:
            return self._request.finish()
        return Unread.NOT_JSON if self._type else None

    def _response_body(self) -> CopiedBody:
        if self._response is not None:
            return self._response.finish()
        return Unread.NOT_JSON if b"content-type" in self._headers else None


def _copy(message: Message, copy: BodyCopy) -> None:
    copy.add(message.get("body") or b"")
    copy.is_whole = not message.get("more_body", False)
