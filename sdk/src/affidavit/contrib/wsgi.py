"""For any WSGI app, such as Flask (PEP 3333): signed intents (contract §3), witnessed shapes (contract §4).

app.wsgi_app = IntentMiddleware(app.wsgi_app, protection)                    # every request
app.wsgi_app = IntentMiddleware(app.wsgi_app, protection, everything=False)  # only what is decorated

@app.post("/refunds")
@intent_required(minimum_version=2)
def refund(): ...  # current_intent().args are the verified arguments

app.wsgi_app = WitnessMiddleware(app.wsgi_app, witness)  # put around the app last, so that it is outermost
"""

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import wraps
from http import HTTPStatus
from inspect import iscoroutinefunction
from itertools import chain, islice
from typing import Any, ParamSpec, TypeVar, overload

from affidavit._intents.intent import Intent
from affidavit._paths.routes import parse_route_path
from affidavit._protection.deliveries import StoredResponse
from affidavit._protection.protection import NO_DEMANDS, Admission, Call, Demands, Protection, require_intent
from affidavit._shapes.media_types import name_utf8
from affidavit.contrib._wsgi.environ import Environ, WsgiApp, decode, read_body, read_prefix
from affidavit.contrib._wsgi.routes import find_rule, match_rule
from affidavit.contrib._wsgi.witness import WitnessMiddleware as WitnessMiddleware

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Headers = list[tuple[str, str]]
_ViewResponse = tuple[bytes, int, _Headers]

_HEADER = "HTTP_X_SERVICE_INTENT"
_GATE_IN_ENVIRON = "affidavit.gate"


def current_intent() -> Intent:
    """Return the verified intent of the current request. Raises LookupError if there is none."""
    gate = _GATE.get(None)
    return require_intent(gate.admission if gate else None)


@overload
def intent_required(view: Callable[_P, _R], /) -> Callable[_P, _R]: ...
@overload
def intent_required(
    *, minimum_version: int | None = None, operation: str | None = None
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
def intent_required(
    view: Callable[..., Any] | None = None, *, minimum_version: int | None = None, operation: str | None = None
) -> Callable[..., Any]:
    """Protect one view of a framework that accepts `(body, status, headers)` as a response, as Flask does.

    minimum_version, operation: see `IntentVerifier.verify`.

    The app needs the middleware. Without it, every call raises RuntimeError, so that none passes unverified.
    """
    demands = Demands(minimum_version, operation)

    def protect(view: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(view)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            refusal = _require_gate().refusal(demands)
            return view(*args, **kwargs) if refusal is None else _build_view_response(refusal)

        @wraps(view)
        async def async_wrapper(*args: Any, **kwargs: Any) -> Any:  # Flask runs it on an event loop of its own
            refusal = _require_gate().refusal(demands)
            return await view(*args, **kwargs) if refusal is None else _build_view_response(refusal)

        return async_wrapper if iscoroutinefunction(view) else wrapper

    return protect if view is None else protect(view)


def _require_gate() -> "_Gate":
    gate = _GATE.get(None)
    if gate is None:
        raise RuntimeError("intent_required needs affidavit.contrib.wsgi.IntentMiddleware around the app")
    return gate


class IntentMiddleware:
    """Wrap a WSGI app: verify every request that `protection` does not exempt, before the app sees it.

    everything=False protects only views that are decorated with `intent_required`. If this app is mounted in another
    one whose middleware has the same protection and has verified the request, it is not verified again. The app can
    read the body as before. `step_up` of the verifier gets the WSGI environ.
    """

    def __init__(self, app: WsgiApp, protection: Protection, *, everything: bool = True) -> None:
        self._app = app
        self._protection = protection
        self._everything = everything

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """See PEP 3333."""
        gate, outer_gate = _Gate(self._protection, environ, self._app), environ.get(_GATE_IN_ENVIRON)
        if isinstance(outer_gate, _Gate) and outer_gate.has_verified(gate):
            return self._app(environ, start_response)
        environ[_GATE_IN_ENVIRON] = gate
        token = _GATE.set(gate)
        try:
            if self._everything and not self._protection.exempt(gate.method, gate.path):
                refusal = gate.refusal(NO_DEMANDS)
                if refusal is not None:
                    start_response(_build_status_line(refusal.status), list(refusal.headers))
                    return [refusal.body]
            return _Run(gate, start_response).serve(self._app, environ)
        finally:
            _GATE.reset(token)
            environ[_GATE_IN_ENVIRON] = outer_gate  # environ and gate would keep each other until a garbage collection


class _Gate:
    """One request, verified at most once: by the middleware or by the decorator of its view."""

    def __init__(self, protection: Protection, environ: Environ, app: WsgiApp) -> None:
        self.protection = protection
        self._app = app
        self.admission: Admission | None = None
        self._route_path: str | None = None
        self._environ = environ
        self.method = environ["REQUEST_METHOD"]
        self._prefix = read_prefix(environ)
        self._given_path = environ.get("SCRIPT_NAME", ""), environ.get("PATH_INFO", "")
        self.path = self._prefix + decode(environ.get("PATH_INFO", "")) or "/"
        # What tells one call from another: code of the app may run its own calls with a copy of an environ.
        self._facts = (self.method, self.path, environ.get("QUERY_STRING", ""), environ.get(_HEADER))

    def has_verified(self, other: "_Gate") -> bool:
        """Return whether the same protection has admitted the call of another gate, and the call is running."""
        is_running = self.admission is not None and not self.admission.is_settled
        return is_running and self.protection is other.protection and self._facts == other._facts

    def refusal(self, demands: Demands) -> StoredResponse | None:
        """Return the response to send in place of the view's; None if the call may run."""
        if self.admission is not None:
            return self.admission.refusal(demands)
        body = read_body(self._environ, self.protection.find_max_body(self.method, self.path))
        if isinstance(body, StoredResponse):
            return body
        result = self.protection.admit(self._build_call(body), demands)
        if isinstance(result, StoredResponse):
            return result
        if content_type := self._environ.get("CONTENT_TYPE"):
            self._environ["CONTENT_TYPE"] = name_utf8(content_type)
        self.admission = result
        return None

    def note_route(self) -> None:
        """Note the route, before Flask forgets it."""
        self._keep_route(find_rule(self._environ, *self._given_path))

    def _keep_route(self, rule: str | None) -> None:
        path = None if rule is None else parse_route_path(rule)
        if path is not None:
            self._route_path = self._prefix + path

    def _find_route(self) -> str | None:
        if self._route_path is None:
            self.note_route()
        if self._route_path is None and self.admission is None:
            self._keep_route(match_rule(self._app, self._environ))
        return self._route_path

    def _build_call(self, body: bytes) -> Call:
        environ = self._environ
        target = environ.get("REQUEST_URI") or environ.get("RAW_URI")
        return Call(
            header=environ.get(_HEADER),
            method=self.method,
            path=self.path,
            query=environ.get("QUERY_STRING", ""),
            body=body,
            content_type=environ.get("CONTENT_TYPE"),
            raw_path=target.partition("?")[0] if target else None,
            request=environ,
            route=self._find_route,
            content_encoding=environ.get("HTTP_CONTENT_ENCODING"),
        )


_GATE: ContextVar[_Gate] = ContextVar("affidavit_wsgi_gate")


class _Run:
    """One run of the app. The response of an admitted call is kept before it is sent."""

    def __init__(self, gate: _Gate, start_response: Any) -> None:
        self._gate = gate
        self._start_response = start_response
        self._start_arguments: tuple[Any, ...] = ()
        self._written_chunks: list[bytes] = []

    def serve(self, app: WsgiApp, environ: Environ) -> Iterable[bytes]:
        """Return the response for the server."""
        try:
            chunks = app(environ, self._start_response_later)
            if self._gate.admission is None:
                return chunks
            try:
                return self._settle(self._gate.admission, chunks)
            except BaseException:
                _close(chunks)  # the server does not know them
                raise
        except BaseException:  # the handler failed: a retry may run
            if self._gate.admission is not None:
                self._gate.admission.abandon()
            raise

    def _start_response_later(self, status: str, headers: _Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        if self._gate.admission is None:
            exc_info_arguments = (exc_info,) if exc_info else ()
            return self._start_response(status, headers, *exc_info_arguments)  # type: ignore[no-any-return]  # the server's
        self._gate.note_route()
        self._start_arguments = (status, headers)
        return self._written_chunks.append

    def _settle(self, admission: Admission, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """Settle with the response, without a body that streams or is too large. Return the response's chunks."""
        iterator, limit = iter(chunks), self._gate.protection.max_kept
        chunks_read: list[bytes] = []
        is_at_end = False
        if not self._is_event_stream():  # the first event of a stream may take long
            chunks_read += islice(iterator, 1)  # an app may start its response only now, or fail
            is_at_end = not chunks_read  # for instance a 204: Flask gives it neither a length nor a list
        status, headers = self._start_arguments
        is_complete = isinstance(chunks, (list, tuple)) or is_at_end
        streams = not is_complete and _find_header(headers, "content-length") is None
        if not streams:
            chunks_read += _read_until(limit - sum(map(len, chunks_read)), iterator)
        body = b"".join([*self._written_chunks, *chunks_read])
        if not streams and len(body) <= limit:
            _close(chunks)
            admission.finish(int(status[:3]), headers, body)
            self._start_response(status, headers)
            return [body]
        admission.finish(int(status[:3]))
        self._start_response(status, headers)
        return _Remainder(self._gate, chain([body], iterator), chunks)

    def _is_event_stream(self) -> bool:
        media_type = _find_header(self._start_arguments[1], "content-type") if self._start_arguments else None
        return media_type is not None and media_type.startswith("text/event-stream")


class _Remainder:
    """The remaining chunks of a response; closing it closes the app's response. `current_intent` works in its code."""

    def __init__(self, gate: _Gate, chunks: Iterator[bytes], source: Iterable[bytes]) -> None:
        self._gate = gate
        self._chunks = chunks
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        token = _GATE.set(self._gate)
        try:
            return next(self._chunks)
        finally:
            _GATE.reset(token)

    def close(self) -> None:
        """See PEP 3333."""
        token = _GATE.set(self._gate)
        try:
            _close(self._source)
        finally:
            _GATE.reset(token)


def _find_header(headers: _Headers, name: str) -> str | None:
    """Return the value of the first header of this name, which is in lower case; None if there is none."""
    for key, value in headers:
        if key.lower() == name:
            return value
    return None


def _read_until(limit: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        yield chunk
        size += len(chunk)
        if size > limit:
            return


def _close(chunks: Iterable[bytes]) -> None:
    close = getattr(chunks, "close", None)
    if close is not None:
        close()


def _build_status_line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Unknown"


def _build_view_response(refusal: StoredResponse) -> _ViewResponse:
    return refusal.body, refusal.status, list(refusal.headers)
