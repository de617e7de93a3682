"""Observe the requests and responses of an ASGI app (contract §4)."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from contextlib import suppress

from affidavit._paths.routes import quote_path
from affidavit._shapes.media_types import is_json
from affidavit._witness.bodies import BodyCopy, CopiedBody, Unread, choose_type, open_copy
from affidavit._witness.intake import OperationKey, find_key
from affidavit._witness.witness import Witness

from .messages import AsgiApp, Message, Receive, Send, list_headers, run_lifespan
from .routes import find_route, find_route_object, has_no_route
from .scope import Entrance, Scope, read_headers

_Facts = tuple[int, tuple[str, ...], str, int, str | None, bytes, bool]
"""The id of a route's object, the names of the parameters, method, status, the types of both bodies, and whether the
response is empty."""
_Keys = dict[_Facts | None, tuple[OperationKey, object]]
"""The operation of settled answers, and the object of its route, by the facts of an answer."""
_MAX_KEYS = 1000
_REQUEST_HEADERS = frozenset({b"content-type", b"content-encoding"})
_HEADERS = frozenset({b"content-type", b"content-encoding", b"content-length"})


class WitnessMiddleware:
    """Wrap an ASGI app: `witness` observes its traffic, and neither changes nor delays it.

    Make this the outermost middleware. In Starlette, FastAPI and Litestar, requests without a route are not observed.
    """

    def __init__(self, app: AsgiApp, witness: Witness) -> None:
        self._app = app
        self._witness = witness
        self._keys: _Keys = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await run_lifespan(self._app, scope, receive, send)
            else:
                await self._app(scope, receive, send)
            return
        exchange = _Exchange(self._witness, self._keys, self._app, scope, receive, send)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except Exception:  # reported as a 500, and raised again
            exchange.report(has_failed=True)
            raise
        finally:
            if not exchange.is_reported:  # the client may be gone halfway
                exchange.report()


class _Exchange:
    """One request and its response. Observing must never disturb them, and costs each request little."""

    _status = 0
    _sent_headers: Iterable[tuple[bytes, bytes]] = ()
    _request_headers: Mapping[bytes, str] = {}
    _headers: Mapping[bytes, str] = {}
    _has_request_headers = False
    _request: BodyCopy | None = None
    _response: BodyCopy | None = None
    _response_type: str | None = None
    is_reported = False

    def __init__(self, witness: Witness, keys: _Keys, app: AsgiApp, scope: Scope, receive: Receive, send: Send) -> None:
        self._witness = witness
        self._keys = keys
        self._app = app
        self._scope = scope
        self._receive = receive
        self._send = send
        try:
            # Before an inner mount or middleware changes them. Most requests need no Entrance of them.
            self._path: str = scope["path"]
            root: str = scope.get("root_path", "")
            self._root, self._base = root, scope.get("app_root_path", root)
            self._sent_headers = scope["headers"]
        except Exception:  # whatever the scope holds, the app must be called
            self.is_reported = True

    async def receive(self) -> Message:
        """Receive for the app, and copy the body while it passes."""
        message = await self._receive()
        if not self.is_reported and message["type"] == "http.request":
            try:
                copy = self._open_request()
                if copy is not None:
                    _copy(message, copy)
            except Exception:  # whatever the scope holds, the app must have its message
                self.is_reported = True
        return message

    def send(self, message: Message) -> Awaitable[None]:
        """Note a message of the app; return the server's coroutine, which costs less than awaiting it here."""
        if not self.is_reported:
            try:
                if message["type"] == "http.response.start":
                    if type(message.get("headers")) is not list:  # saves most requests the call
                        message = list_headers(message)
                    self._note_start(message)
                elif message["type"] == "http.response.body":
                    self._note_body(message)
            except Exception:  # the server decides whether the message is valid
                self.is_reported = True
        return self._send(message)

    @property
    def _entrance(self) -> Entrance:
        return Entrance(self._path, self._root, self._base, self._app)

    def report(self, *, has_failed: bool = False) -> None:
        """Report the exchange, once.

        has_failed: whether the app raised; unless it had begun to answer, the server sends a 500.
        """
        if self.is_reported or not (self._status or has_failed):
            return
        self.is_reported = True
        scope = self._scope
        with suppress(Exception):  # whatever the scope holds, observing must not break the response
            if has_no_route(scope):
                return
            request = self._open_request()
            self._witness.observe(
                scope["method"], self._build_path(), self._status or 500,
                route=find_route(scope, self._entrance),
                query=scope.get("query_string", b"").decode("latin-1"),
                request_body=None if request is None else request.finish(),
                request_content_type=self._find_request_type(),
                request_encoding=self._request_headers.get(b"content-encoding"),
                response_body=self._finish_response(),
                response_content_type=self._response_type,
                response_encoding=self._headers.get(b"content-encoding"),
            )  # fmt: skip

    def _open_request(self) -> BodyCopy | None:
        """Return the copy of the request's body, opened at the first call; None if the request has no body to copy."""
        if not self._has_request_headers:
            self._has_request_headers = True
            self._request_headers = headers = read_headers(self._sent_headers, _REQUEST_HEADERS)
            if b"content-type" in headers:
                self._request = open_copy(headers[b"content-type"], self._witness.max_body)
        return self._request

    def _find_request_type(self) -> str | None:
        """Return the type of the body that the app has read; None if it has read none."""
        return self._request_headers[b"content-type"] if self._request is not None and self._request.size else None

    def _build_path(self) -> str:
        return quote_path(self._entrance.path)

    def _note_start(self, message: Message) -> None:
        scope, self._status = self._scope, int(message["status"])
        facts = self._read_facts(message)
        key_and_route = self._keys.get(facts)
        if key_and_route is not None and self._witness.count_settled(key_and_route[0]):
            self.is_reported = True
            return
        route = find_route(scope, self._entrance)
        self._headers = headers = read_headers(message.get("headers", ()), _HEADERS)
        content_type = headers.get(b"content-type")
        self._response_type = choose_type(content_type, headers.get(b"content-length"))
        types = None if self._request is None else self._find_request_type(), self._response_type
        if route is not None and self._witness.settles(
            scope["method"], self._build_path, self._status, route,
            request_content_type=types[0], response_content_type=types[1],
        ):  # fmt: skip
            self.is_reported = True
            if facts is not None and not self._witness.has_exemptions:
                self._remember(facts, find_key(scope["method"], self._status, route, *types))
            return
        if is_json(content_type or ""):
            self._response = BodyCopy(self._witness.max_body)

    def _read_facts(self, message: Message) -> _Facts | None:
        """Return facts that are read in little time and determine the operation; None if only more of them do."""
        scope = self._scope
        route = find_route_object(scope)
        is_mounted = self._root or scope.get("root_path") or scope.get("app_root_path")
        request_type = None if self._request is None else self._find_request_type()
        if route is None or is_mounted or (request_type and ";" in request_type):  # each boundary is different
            return None
        content_type = length = None
        for name, value in message.get("headers", ()):
            if name == b"content-type":
                if content_type is not None:
                    return None
                content_type = value
            elif name == b"content-length":
                length = value
        if content_type is None:  # or its name is not in lower case
            return None
        names = tuple(scope.get("path_params", ()))
        return id(route), names, scope["method"], self._status, request_type, content_type, length == b"0"

    def _remember(self, facts: _Facts, key: OperationKey | None) -> None:
        """Note which operation has these facts. The object of the route is kept, so that its id stays its own."""
        if len(self._keys) >= _MAX_KEYS:
            self._keys.clear()
        if key is not None:
            self._keys[facts] = key, find_route_object(self._scope)

    def _note_body(self, message: Message) -> None:
        if self._response is not None:
            _copy(message, self._response)
        if not message.get("more_body", False):
            self.report()

    def _finish_response(self) -> CopiedBody:
        if self._response is not None:
            return self._response.finish()
        return Unread.NOT_JSON if self._response_type else None


def _copy(message: Message, copy: BodyCopy) -> None:
    copy.add(message.get("body") or b"")
    copy.is_whole = not message.get("more_body", False)
