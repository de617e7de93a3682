"""Observe the requests and responses of an ASGI app (contract 4)."""

from contextlib import suppress
from urllib.parse import quote

from affidavit._witness.bodies import BodyCopy, CopiedBody, Unread, is_json
from affidavit._witness.witness import Witness
from affidavit.contrib._asgi_messages import AsgiApp, Message, Receive, Send
from affidavit.contrib._asgi_scope import Scope, find_route, has_no_route, read_header, read_path


class WitnessMiddleware:
    """Wrap an ASGI app: `witness` observes its traffic, unchanged and undelayed. Make it the outermost.

    In Starlette and FastAPI, requests without a route are not observed.
    """

    def __init__(self, app: AsgiApp, witness: Witness) -> None:
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
        except Exception:  # reported as a 500, and raised on
            exchange.report(failed=True)
            raise
        finally:  # the client may be gone halfway
            exchange.report()


class _Exchange:
    """One request and its response. Observing must never disturb them."""

    def __init__(self, witness: Witness, scope: Scope, receive: Receive, send: Send) -> None:
        self._witness = witness
        self._scope = scope
        self._path = ""
        self._receive, self._send = receive, send
        self._content_type: str | None = None
        self._request: BodyCopy | None = None
        self._status = 0
        self._headers: dict[bytes, str] = {}
        self._response: BodyCopy | None = None
        self._is_reported = False
        with suppress(Exception):  # whatever the scope holds, the app must be called
            self._note_request()

    async def receive(self) -> Message:
        """Receive for the app."""
        message = await self._receive()
        if self._request is not None and message["type"] == "http.request":
            _copy(message, self._request)
        return message

    async def send(self, message: Message) -> None:
        """Send for the app."""
        await self._send(message)
        if self._is_reported:
            return
        if message["type"] == "http.response.start":
            self._note_start(message)
        elif message["type"] == "http.response.body":
            if self._response is not None:
                _copy(message, self._response)
            if not message.get("more_body", False):
                self.report()

    def report(self, *, failed: bool = False) -> None:
        """Report the exchange, once. failed: the app raised; unless it had begun to answer, the server sends a 500."""
        if self._is_reported or not (self._status or failed):
            return
        self._is_reported = True
        if has_no_route(self._scope):
            return
        with suppress(Exception):  # whatever the scope holds, observing must not break the response
            self._witness.observe(
                self._scope["method"], quote(self._path, errors="replace"), self._status or 500,
                route=find_route(self._scope),
                query=self._scope.get("query_string", b"").decode("latin-1"),
                request_body=self._finish_request_body(),
                request_content_type=self._content_type,
                request_encoding=read_header(self._scope, b"content-encoding"),
                response_body=self._finish_response_body(),
                response_content_type=self._headers.get(b"content-type"),
                response_encoding=self._headers.get(b"content-encoding"),
            )  # fmt: skip

    def _note_request(self) -> None:
        """Note the path and the content type, before an inner mount changes them."""
        self._path = read_path(self._scope)
        self._content_type = read_header(self._scope, b"content-type")
        if is_json(self._content_type or ""):
            self._request = BodyCopy(self._witness.max_body)

    def _note_start(self, message: Message) -> None:
        with suppress(Exception):  # the server has accepted it; whether it is valid is not checked here
            self._status = int(message["status"])
            self._headers = {name.lower(): value.decode("latin-1") for name, value in message.get("headers", ())}
            if is_json(self._headers.get(b"content-type", "")):
                self._response = BodyCopy(self._witness.max_body)

    def _finish_request_body(self) -> CopiedBody:
        if self._request is not None:
            return self._request.finish()
        return Unread.NOT_JSON if self._content_type else None

    def _finish_response_body(self) -> CopiedBody:
        if self._response is not None:
            return self._response.finish()
        return Unread.NOT_JSON if b"content-type" in self._headers else None


def _copy(message: Message, copy: BodyCopy) -> None:
    copy.add(message.get("body") or b"")
    copy.is_whole = not message.get("more_body", False)
