"""For any ASGI app on asyncio, such as Starlette: signed intents (contract §3), witnessed shapes (contract §4).

app.add_middleware(IntentMiddleware, protection=protection)                    # every request
app.add_middleware(IntentMiddleware, protection=protection, everything=False)  # only what is decorated

@intent_required(minimum_version=2)
async def refund(request): ...  # current_intent().args are the verified arguments

app.add_middleware(WitnessMiddleware, witness=witness)  # the last to be added: outermost
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from contextvars import ContextVar
from functools import cache, partial, wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any, ParamSpec, TypeVar, overload

from affidavit._intents.intent import Intent
from affidavit._paths.routes import parse_route_path
from affidavit._protection.deliveries import StoredResponse
from affidavit._protection.problem_responses import answer_body_incomplete, answer_body_too_large
from affidavit._protection.protection import (
    NO_DEMANDS,
    Call,
    Demands,
    Protection,
    require_intent,
)
from affidavit.contrib._asgi.event_loop import require_asyncio, require_thread_of_its_own
from affidavit.contrib._asgi.match_route import match_route
from affidavit.contrib._asgi.messages import (
    AsgiApp,
    HeldResponse,
    Message,
    Receive,
    RequestBody,
    Send,
    run_lifespan,
)
from affidavit.contrib._asgi.routes import find_route
from affidavit.contrib._asgi.scope import (
    INTENT_HEADER,
    Entrance,
    Scope,
    note_entrance,
    read_as_utf8,
    read_headers,
    read_path,
)
from affidavit.contrib._asgi.witness import WitnessMiddleware as WitnessMiddleware
from affidavit.contrib._async_gate import AsyncGate

_READ_HEADERS = frozenset({INTENT_HEADER, b"content-type", b"content-encoding"})
_DEMANDS = "_affidavit_demands"
_GATE_IN_SCOPE = "affidavit.gate"
_POLICY_VIOLATION = 1008
_RECEIVE_PAUSE = 0.1  # seconds
_CLIENT_ERRORS = (
    ("quart", "werkzeug.exceptions", "Forbidden"),
    ("falcon.asgi", "falcon", "HTTPForbidden"),
    ("sanic", "sanic.exceptions", "Forbidden"),
    ("blacksheep", "blacksheep.exceptions", "Forbidden"),
)

_P = ParamSpec("_P")
_R = TypeVar("_R")


class IntentRefused(Exception):
    """Ends a view whose call may not run; the middleware sends the response. Do not catch it."""


def _make_refused() -> IntentRefused:
    """Return the exception, as an error of the client where the framework logs any other as a fault of the app."""
    for framework, module, name in _CLIENT_ERRORS:
        if framework in sys.modules:
            return _join_error_classes(getattr(sys.modules[module], name))()
    return IntentRefused()


@cache
def _join_error_classes(client_error: type[Exception]) -> type[IntentRefused]:
    return type(IntentRefused.__name__, (IntentRefused, client_error), {})


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
    """Protect one view, `async def` or `def`, of any framework whose views are functions. The view may yield.

    minimum_version, operation: see `IntentVerifier.verify`.

    The app needs the middleware. Without it, every call raises RuntimeError, so that none passes unverified. A call of
    a `def` view that runs on the event loop raises RuntimeError too.
    """
    demands = Demands(minimum_version, operation)

    def protect(view: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(view)
        async def await_admission(*args: Any, **kwargs: Any) -> Any:
            await require_gate().admit(demands)
            return await view(*args, **kwargs)

        @wraps(view)
        def wait_for_admission(*args: Any, **kwargs: Any) -> Any:
            gate = require_gate()
            require_thread_of_its_own()
            gate.wait_for_admission(demands)
            return view(*args, **kwargs)

        @wraps(view)
        def start_yielding(*args: Any, **kwargs: Any) -> Any:
            gate = require_gate()
            gate.admit_before_response(demands)
            iterate = _iterate_if_admitted if isasyncgenfunction(view) else _iterate_in_thread_if_admitted
            return iterate(gate, demands, view(*args, **kwargs))

        if isasyncgenfunction(view) or isgeneratorfunction(view):
            wrapper: Callable[..., Any] = start_yielding
        else:
            wrapper = await_admission if iscoroutinefunction(view) else wait_for_admission
        setattr(wrapper, _DEMANDS, demands)
        return wrapper

    return protect if view is None else protect(view)


async def _iterate_if_admitted(gate: "Gate", demands: Demands, items: AsyncGenerator[Any]) -> AsyncGenerator[Any]:
    async with aclosing(items):
        await gate.admit(demands)
        async for item in items:
            yield item


def _iterate_in_thread_if_admitted(gate: "Gate", demands: Demands, items: Generator[Any]) -> Generator[Any]:
    gate.wait_for_admission(demands)
    yield from items


def find_demands(view: object) -> Demands:
    """Return the demands of a view's `intent_required`; NO_DEMANDS if the view is not decorated."""
    demands = getattr(view, _DEMANDS, NO_DEMANDS)
    return demands if isinstance(demands, Demands) else NO_DEMANDS


class IntentMiddleware:
    """Wrap an ASGI app: verify every request that `protection` does not exempt, before the app sees it.

    everything=False protects only views that are decorated with `intent_required`. With everything=True, WebSockets are
    closed, because no intent covers them, unless `protection` exempts them (as method `GET`). If this app is
    mounted in another one whose middleware has the same protection and has verified the request, it is not verified
    again. The app can read the body as before. `step_up` of the verifier gets the ASGI scope. It runs in a thread, and
    so do all stores but those in memory.
    """

    def __init__(self, app: AsgiApp, protection: Protection, *, everything: bool = True) -> None:
        self._app = app
        self._protection = protection
        self._everything = everything

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] == "lifespan":
            await run_lifespan(self._app, scope, receive, send)
            return
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        method, path = scope.get("method", "GET"), read_path(scope)
        is_due = self._everything and not self._protection.exempt(method, path)
        if scope["type"] == "websocket":
            if is_due:
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            else:
                await self._app(scope, receive, send)
            return
        outer_gate = scope.get(_GATE_IN_SCOPE)
        if isinstance(outer_gate, Gate) and outer_gate.has_verified(scope, path, self._protection):
            await self._app(scope, receive, send)
            return
        read_as_utf8(scope)
        gate = scope[_GATE_IN_SCOPE] = Gate(self._protection, scope, note_entrance(scope, self._app), receive, send)
        token = _GATE.set(gate)
        try:
            await gate.run(self._app, NO_DEMANDS if is_due else None)
        finally:
            _GATE.reset(token)
            scope[_GATE_IN_SCOPE] = outer_gate  # scope and gate would keep each other until a garbage collection


class Gate(AsyncGate):
    """One request, verified at most once: by the middleware or by its view."""

    def __init__(self, protection: Protection, scope: Scope, entrance: Entrance, receive: Receive, send: Send) -> None:
        super().__init__(protection)
        path = entrance.path
        self._refusal: StoredResponse | None = None
        self._has_refused = self._has_ended = False
        self._is_deciding = asyncio.Lock()
        self._demands_before_response: list[Demands] = []
        self._scope = scope
        self._path = path
        self._entrance = entrance
        # What tells one call from another: code of the app may run its own calls with a copy of a scope.
        self._facts = (scope["method"], path, scope.get("query_string", b""))
        self._headers = scope["headers"]
        self._send = send
        self._body = RequestBody(receive, protection.find_max_body(scope["method"], path))
        self._response: HeldResponse | None = None
        self._loop: asyncio.AbstractEventLoop

    def has_verified(self, scope: Scope, path: str, protection: Protection) -> bool:
        """Return whether this protection has admitted the call of this scope, and the call is running."""
        if self.admission is None or self.admission.is_settled or self._protection is not protection:
            return False
        facts = (scope["method"], path, scope.get("query_string", b""))
        header, own_header = (
            read_headers(headers, _READ_HEADERS).get(INTENT_HEADER) for headers in (scope["headers"], self._headers)
        )
        return self._facts == facts and header == own_header

    async def admit(self, demands: Demands) -> None:
        """Admit the call, or raise IntentRefused."""
        async with self._is_deciding:  # a view that yields may begin at the same time as its response
            if self._refusal is None:
                self._refusal = await self._find_refusal(demands)
        if self._refusal is not None:
            raise _make_refused()

    def admit_before_response(self, demands: Demands) -> None:
        """Admit the call when its response begins: a view that yields runs only after that."""
        self._demands_before_response.append(demands)

    def wait_for_admission(self, demands: Demands) -> None:
        """Admit the call from a thread, or raise IntentRefused."""
        if self.admission is None:
            asyncio.run_coroutine_threadsafe(self.admit(demands), self._loop).result()
            return
        self._refusal = self.admission.refusal(demands)
        if self._refusal is not None:
            raise _make_refused()

    async def run(self, app: AsgiApp, demands: Demands | None) -> None:
        """Send the app's response, or the refusal in its place.

        demands: the demands that the intent must meet before the app runs.
        """
        self._loop = require_asyncio()
        try:
            if demands is not None:
                self._refusal = await self._find_refusal(demands)
            if self._refusal is None:
                receive = self._receive_for_quart if "quart" in sys.modules else self._body.receive
                await app(self._scope, receive, self._send_for_app)
        except Exception:  # IntentRefused, or what a framework makes of it; anything else is raised
            if self._refusal is None:
                raise
        finally:
            self._has_ended = True
            await self.abandon()
        await self._send_refusal()

    async def _receive_for_quart(self) -> Message:
        """Receive for an app of Quart, which learns that its client is gone only when the call is settled.

        It would cancel the call, but a view in a thread goes on: a retry would run it a second time, at the same time.
        """
        message = await self._body.receive()
        if message["type"] == "http.disconnect":
            while self._is_deciding.locked() or (self._is_unsettled() and self._runs_once()):
                await asyncio.sleep(_RECEIVE_PAUSE)
        return message

    async def _send_refusal(self) -> None:
        """Send the refusal, if there is one and it was not sent yet."""
        refusal = self._refusal
        if refusal is not None and not self._has_refused:
            self._has_refused = True
            await _send_whole(refusal, self._send)

    async def _send_for_app(self, message: Message) -> None:
        """Send the app's response. The response to an admitted call waits: it is kept before its first byte is sent."""
        if self._refusal is not None:  # it takes the place of the framework's response to IntentRefused
            await self._send_refusal()  # now, because some frameworks end only after the client has its answer
            return
        while self._demands_before_response and message["type"] == "http.response.start":
            await self.admit(self._demands_before_response.pop())
        response = self._response or self._hold_from(message)
        if response is None:
            await self._send(message)
        elif response.hold(message):
            self._response = None
            if self.admission is not None and self._is_in_memory:
                self.admission.finish(response.status, response.headers, response.body)
            elif self.admission is not None:
                await self._run_in_thread(self.admission.finish, response.status, response.headers, response.body)
            for held_message in response.messages:
                await self._send(held_message)

    def _hold_from(self, message: Message) -> HeldResponse | None:
        """Return the object that holds back the response of an admitted call.

        Return None if the response can be sent as it comes.
        """
        admission = self.admission
        if admission is None or admission.is_settled or message["type"] != "http.response.start":
            return None
        if not admission.keeps_response:
            admission.finish(int(message["status"]))
            return None
        self._response = HeldResponse(self._protection.max_kept)
        return self._response

    async def _find_refusal(self, demands: Demands) -> StoredResponse | None:
        if self.admission is not None:
            return await self._run_step(self.admission.refusal, demands)
        body = await self._body.read_all()
        if body is None:
            return answer_body_too_large(self._body.limit)
        if self._body.is_cut_off:
            return answer_body_incomplete()
        if self._has_ended:  # nobody would settle a call whose thread began only now, as its client went
            raise asyncio.CancelledError
        return await self._admit_call(self._build_call(body), demands)

    def _build_call(self, body: bytes) -> Call:
        scope = self._scope
        raw_path, headers = scope.get("raw_path"), read_headers(scope["headers"], _READ_HEADERS)
        return Call(  # without names: a class that is called with them takes several times as long
            headers.get(INTENT_HEADER),
            scope["method"],
            self._path,
            scope.get("query_string", b"").decode("latin-1"),
            body,
            headers.get(b"content-type"),
            raw_path.decode("latin-1") if raw_path is not None else None,
            scope,
            partial(_find_route_path, scope, self._entrance),
            headers.get(b"content-encoding"),
        )

    def _runs_once(self) -> bool:
        return self.admission is not None and self.admission.runs_once


_GATE: ContextVar[Gate] = ContextVar("affidavit_asgi_gate")


def require_gate() -> Gate:
    """Return the gate of the current request. Raises RuntimeError without the middleware."""
    gate = _GATE.get(None)
    if gate is None:
        raise RuntimeError(
            "intent_required needs affidavit.contrib.asgi.IntentMiddleware around the app; no intent covers a WebSocket"
        )
    return gate


async def _send_whole(answer: StoredResponse, send: Send) -> None:
    # In lower case, as ASGI demands: otherwise middleware adds a second length beside `Content-Length`.
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def _find_route_path(scope: Scope, entrance: Entrance) -> str | None:
    rule = find_route(scope, entrance) or match_route(scope, entrance)
    return None if rule is None else parse_route_path(rule)
