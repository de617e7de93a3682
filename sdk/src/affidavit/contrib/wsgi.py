"""For any WSGI app, Flask for one (PEP 3333): signed intents (contract 3), witnessed shapes (contract 4).

app.wsgi_app = IntentMiddleware(app.wsgi_app, protection)                    # every request
app.wsgi_app = IntentMiddleware(app.wsgi_app, protection, everything=False)  # only what is decorated

@app.post("/refunds")
@intent_required(minimum_version=2)
def refund(): ...  # current_intent().args are the verified arguments

app.wsgi_app = WitnessMiddleware(app.wsgi_app, witness)  # the last to be put around it: outermost
"""

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import wraps
from http import HTTPStatus
from io import BytesIO
from itertools import chain
from typing import Any, ParamSpec

from affidavit._intents.intent import Intent
from affidavit._paths.routes import parse_route_path
from affidavit._protection.idempotency import StoredResponse
from affidavit._protection.protection import NO_DEMANDS, Admission, Call, Demands, Protection, require_intent
from affidavit._protection.responses import answer_body_too_large
from affidavit.contrib._wsgi_environ import Environ, decoded, prefix, rule
from affidavit.contrib._wsgi_witness import WitnessMiddleware as WitnessMiddleware

P = ParamSpec("P")
App = Callable[[Environ, Any], Iterable[bytes]]
Headers = list[tuple[str, str]]
Answer = tuple[bytes, int, Headers]

HEADER = "HTTP_X_SERVICE_INTENT"
_CHUNK = 64 * 1024


def current_intent() -> Intent:
    """The verified intent of the request at work. Raises LookupError outside a protected one."""
    gate = _GATE.get(None)
    return require_intent(gate.admission if gate else None)


def intent_required(
    view: Callable[P, Any] | None = None, *, minimum_version: int | None = None, operation: str | None = None
) -> Any:
    """Protects one view of a framework that takes `(body, status, headers)` for a response, as Flask does.

    minimum_version, operation: see `IntentVerifier.verify`. It needs the middleware around the app, and raises
    RuntimeError without it: no call passes unverified.
    """
    demands = Demands(minimum_version, operation)

    def protected(view: Callable[P, Any]) -> Callable[P, Any]:
        @wraps(view)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> Any:
            gate = _GATE.get(None)
            if gate is None:
                raise RuntimeError("intent_required needs affidavit.contrib.wsgi.IntentMiddleware around the app")
            refusal = gate.refusal(demands)
            return view(*args, **kwargs) if refusal is None else _framework_answer(refusal)

        return wrapper

    return protected if view is None else protected(view)


class IntentMiddleware:
    """Around a WSGI app: verifies every request that `protection` does not exempt, before the app sees it.

    everything=False leaves it to the views that are decorated with `intent_required`. The app can read the body
    as before. `step_up` of the verifier gets the WSGI environ.
    """

    def __init__(self, app: App, protection: Protection, *, everything: bool = True) -> None:
        self._app = app
        self._protection = protection
        self._everything = everything

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """See PEP 3333."""
        gate = _Gate(self._protection, environ)
        token = _GATE.set(gate)
        try:
            if self._everything and not self._protection.exempt(gate.method, gate.path):
                refusal = gate.refusal(NO_DEMANDS)
                if refusal is not None:
                    start_response(_status_line(refusal.status), list(refusal.headers))
                    return [refusal.body]
            return _Run(gate, start_response).of(self._app, environ)
        finally:
            _GATE.reset(token)


class _Gate:
    """One request: verified at most once, by the middleware or by its view."""

    def __init__(self, protection: Protection, environ: Environ) -> None:
        self.protection = protection
        self.admission: Admission | None = None
        self._found: str | None = None
        self._environ = environ
        self.method = environ["REQUEST_METHOD"]
        self._prefix = prefix(environ)
        self.path = self._prefix + decoded(environ.get("PATH_INFO", "")) or "/"

    def refusal(self, demands: Demands) -> StoredResponse | None:
        """The answer to give in place of the view; None when the call may run."""
        if self.admission is not None:
            return self.admission.refusal(demands)
        body = _body(self._environ, self.protection.max_body)
        if body is None:
            return answer_body_too_large(self.protection.max_body)
        admitted = self.protection.admit(self._call(body), demands)
        if isinstance(admitted, StoredResponse):
            return admitted
        self.admission = admitted
        return None

    def see_route(self) -> None:
        """Notes the route that was found, before Flask forgets it."""
        found = rule(self._environ)
        path = None if found is None else parse_route_path(found)
        if path is not None:
            self._found = self._prefix + path

    def _route(self) -> str | None:
        if self._found is None:
            self.see_route()
        return self._found

    def _call(self, body: bytes) -> Call:
        environ = self._environ
        target = environ.get("REQUEST_URI") or environ.get("RAW_URI")
        return Call(
            header=environ.get(HEADER),
            method=self.method,
            path=self.path,
            query=environ.get("QUERY_STRING", ""),
            body=body,
            content_type=environ.get("CONTENT_TYPE"),
            raw_path=target.partition("?")[0] if target else None,
            request=environ,
            route=self._route,
        )


_GATE: ContextVar[_Gate] = ContextVar("affidavit_wsgi_gate")


class _Run:
    """An app at work on a request. What an admitted one answers is kept before it is sent."""

    def __init__(self, gate: _Gate, start_response: Any) -> None:
        self._gate = gate
        self._start_response = start_response
        self._started: tuple[Any, ...] = ()
        self._written: list[bytes] = []

    def of(self, app: App, environ: Environ) -> Iterable[bytes]:
        """What the server gets."""
        try:
            chunks = app(environ, self._start)
            if self._gate.admission is None:
                return chunks
            return self._settled(self._gate.admission, chunks)
        except BaseException:  # whatever it was, the handler did not end well: a retry may run
            if self._gate.admission is not None:
                self._gate.admission.abandon()
            raise

    def _start(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        if self._gate.admission is None:
            further = (exc_info,) if exc_info else ()
            return self._start_response(status, headers, *further)  # type: ignore[no-any-return]  # the server's
        self._gate.see_route()
        self._started = (status, headers)
        return self._written.append

    def _settled(self, admission: Admission, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """The whole response, kept; or one that is too large or streams, handed on as it comes."""
        iterator, limit = iter(chunks), self._gate.protection.max_kept
        streams = self._streams()
        read = [] if streams else list(_read_until(limit, iterator))
        body = b"".join([*self._written, *read])
        status, headers = self._started
        if not streams and len(body) <= limit:
            _close(chunks)
            admission.finish(int(status[:3]), headers, body)
            self._start_response(status, headers)
            return [body]
        admission.finish(int(status[:3]))
        self._start_response(status, headers)
        return _Rest(chain([body], iterator), chunks)

    def _streams(self) -> bool:
        headers = self._started[1] if self._started else ()
        return any(name.lower() == "content-type" and value.startswith("text/event-stream") for name, value in headers)


class _Rest:
    """What is left of a response; closing it closes the app's own."""

    def __init__(self, chunks: Iterator[bytes], source: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks

    def close(self) -> None:
        """See PEP 3333."""
        _close(self._source)


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


def _body(environ: Environ, limit: int) -> bytes | None:
    """The whole body, left in place for the app to read; None when it is over `limit` bytes."""
    length = environ.get("CONTENT_LENGTH") or ""
    if length.isdecimal():
        expected = int(length) if len(length) < 16 else limit + 1
    else:
        expected = limit + 1 if environ.get("wsgi.input_terminated") else 0
    if length and expected > limit:
        return None
    body = _read(environ["wsgi.input"], expected)
    if len(body) > limit:
        return None
    environ["wsgi.input"] = BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return body


def _read(source: Any, size: int) -> bytes:
    """At most `size` bytes; a server may give fewer at a time than it is asked for."""
    parts: list[bytes] = []
    while size > 0 and (part := source.read(min(size, _CHUNK))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _status_line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Unknown"


def _framework_answer(refusal: StoredResponse) -> Answer:
    return refusal.body, refusal.status, list(refusal.headers)
