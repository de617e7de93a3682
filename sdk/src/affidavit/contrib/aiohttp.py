"""For servers of aiohttp: signed intents (contract §3), witnessed shapes (contract §4).

app = web.Application(middlewares=[
    witness_middleware(witness),                       # the first is the outermost
    intent_middleware(protection),                     # every request
    # intent_middleware(protection, everything=False)  # only what is decorated
])

@intent_required(minimum_version=2)
async def refund(request): ...  # current_intent().args are the verified arguments
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, overload

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.streams import StreamReader
from aiohttp.typedefs import Handler, Middleware

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
from affidavit._shapes.form_fields import FormField, build_form, find_boundary
from affidavit._shapes.media_types import is_json
from affidavit._witness.bodies import CopiedBody, Unread, choose_type, finish_form, is_readable
from affidavit._witness.witness import Witness
from affidavit.contrib._async_gate import AsyncGate

_P = ParamSpec("_P")
_R = TypeVar("_R")

_HEADER = "X-Service-Intent"


def current_intent() -> Intent:
    """Return the verified intent of the current request. Raises LookupError if there is none."""
    gate = _GATE.get(None)
    return require_intent(gate.admission if gate else None)


def intent_middleware(protection: Protection, *, everything: bool = True) -> Middleware:
    """Return a middleware that verifies every request that `protection` does not exempt, before its handler runs.

    everything=False protects only handlers that are decorated with `intent_required`. If this app is part of another
    whose middleware has the same protection and has verified the request, it is not verified again. A handler can read
    the body as before. `step_up` of the verifier gets the request. It runs in a thread, and so do all stores but those
    in memory.
    """

    @web.middleware
    async def protect(request: web.Request, handler: Handler) -> web.StreamResponse:
        outer_gate = _GATE.get(None)
        if outer_gate is not None and outer_gate.has_verified(request, protection):
            return await handler(request)
        gate = _Gate(protection, request)
        token = _GATE.set(gate)
        is_due = everything and not protection.exempt(request.method, request.path)
        try:
            refusal = await gate.find_refusal(NO_DEMANDS) if is_due else None
            response = await handler(request) if refusal is None else _build_response(refusal)
            await gate.finish(response)
        except web.HTTPException as answer:
            await gate.finish(answer)
            raise
        finally:  # the handler raised, or the client is gone: a retry may run
            _GATE.reset(token)
            await gate.abandon()
        return response

    return protect


@overload
def intent_required(handler: Callable[_P, _R], /) -> Callable[_P, _R]: ...
@overload
def intent_required(
    *, minimum_version: int | None = None, operation: str | None = None
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
def intent_required(
    handler: Callable[..., Any] | None = None, *, minimum_version: int | None = None, operation: str | None = None
) -> Callable[..., Any]:
    """Protect one handler, or one method of a `web.View`.

    minimum_version, operation: see `IntentVerifier.verify`.

    The app needs the middleware. Without it, every call raises RuntimeError, so that none passes unverified.
    """
    demands = Demands(minimum_version, operation)

    def protect(handler: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(handler)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            gate = _GATE.get(None)
            if gate is None:
                raise RuntimeError("intent_required needs affidavit.contrib.aiohttp.intent_middleware around the app")
            refusal = await gate.find_refusal(demands)
            return await handler(*args, **kwargs) if refusal is None else _build_response(refusal)

        return wrapper

    return protect if handler is None else protect(handler)


class _Gate(AsyncGate):
    """One request, verified at most once: by the middleware or by its handler."""

    def __init__(self, protection: Protection, request: web.Request) -> None:
        super().__init__(protection)
        self._request = request

    def has_verified(self, request: web.Request, protection: Protection) -> bool:
        """Return whether this protection has admitted this request, and its handler is running."""
        is_running = self.admission is not None and not self.admission.is_settled
        return is_running and self._protection is protection and self._request is request

    async def find_refusal(self, demands: Demands) -> StoredResponse | None:
        """Return the response to send in place of the handler's; None if the call may run."""
        request, protection = self._request, self._protection
        if self.admission is not None:
            return await self._run_step(self.admission.refusal, demands)
        limit, setting = _find_limit(request, protection)
        try:
            body = await _read_body(request, limit)
        except web.RequestPayloadError:  # its pieces or its encoding are not as its headers say
            return answer_body_incomplete()
        if body is None:
            return answer_body_too_large(limit, setting)
        refusal = await self._admit_call(_build_call(request, body), demands)
        if refusal is None:
            _read_as_utf8(request)
        return refusal

    async def finish(self, response: web.StreamResponse) -> None:
        """Settle an admitted call before its response is sent. A streamed response has been sent already."""
        if self.admission is None or self.admission.is_settled:
            return
        body = response.body or b"" if isinstance(response, web.Response) else None
        if isinstance(response, web.Response) and not isinstance(body, bytes | bytearray):
            self._keep_while_sending(response)
        kept_body = (
            bytes(body) if isinstance(body, bytes | bytearray) and len(body) <= self._protection.max_kept else None
        )
        await self._run_step(self.admission.finish, response.status, list(response.headers.items()), kept_body)

    def _keep_while_sending(self, response: web.Response) -> None:
        """Let `current_intent` work in code that makes the body while it is sent, which is after the middleware."""
        write_eof = response.write_eof

        async def write_with_intent(data: bytes = b"") -> None:
            token = _GATE.set(self)
            try:
                await write_eof(data)
            finally:
                _GATE.reset(token)

        vars(response)["write_eof"] = write_with_intent  # aiohttp has no hook for one response


_GATE: ContextVar[_Gate] = ContextVar("affidavit_aiohttp_gate")


def _find_limit(request: web.Request, protection: Protection) -> tuple[int, str]:
    """Return the limit of the body in bytes, and the setting from which it comes: the protection's or aiohttp's."""
    limit, own_limit = protection.find_max_body(request.method, request.path), request.client_max_size
    return (own_limit, "client_max_size of aiohttp") if 0 < own_limit < limit else (limit, "max_body")


async def _read_body(request: web.Request, limit: int) -> bytes | None:
    """Return the whole body, which the handler can still read; None if it is over `limit` bytes."""
    if request._read_bytes is None:
        if (request.content_length or 0) > limit:
            return None
        chunks, size = list[bytes](), 0
        while chunk := await request.content.readany():
            size += len(chunk)
            if size > limit:
                return None
            chunks.append(chunk)
        body = b"".join(chunks)
        # `read`, `json` and `post` use these bytes. Other readers, such as forms with files, use the stream, so it is
        # replaced by one with the same bytes. Without a body, aiohttp's own stream stays: its class tells aiohttp that
        # there is none.
        request._read_bytes = body
        if body:
            request._payload = stream = StreamReader(request.protocol, 2**16, loop=asyncio.get_running_loop())
            stream.feed_data(body)
            stream.feed_eof()
    data = request._read_bytes
    return data if len(data) <= limit else None


def _read_as_utf8(request: web.Request) -> None:
    """Let aiohttp decode the body as the verifier has, whatever charset is named: in UTF-7, +ACI- is a quote."""
    if request.charset is not None:  # reading it has parsed the header
        request._content_dict = {**(request._content_dict or {}), "charset": "utf-8"}


def _build_call(request: web.Request, body: bytes) -> Call:
    raw_path, _, query = request.raw_path.partition("?")
    return Call(
        header=_join_header(request, _HEADER),
        method=request.method,
        path=request.path,
        query=query,
        body=body,
        content_type=_join_header(request, "Content-Type"),
        raw_path=raw_path,
        request=request,
        route=partial(_find_route_path, request),
        content_encoding=_join_header(request, "Content-Encoding"),
    )


def _join_header(request: web.Request, name: str) -> str | None:
    """Return a header's value, repeated ones joined, as other servers do; None if it is absent or empty."""
    return ",".join(request.headers.getall(name, ())) or None


def _build_response(answer: StoredResponse) -> web.Response:
    headers = [(name, value) for name, value in answer.headers if name.lower() != "content-length"]
    return web.Response(status=answer.status, headers=headers, body=answer.body)


def _find_route(request: web.Request) -> str | None:
    """Return the route that aiohttp found, prefixes of its sub-applications included; None if it found none."""
    resource = request.match_info.route.resource
    return None if resource is None else resource.canonical


def _find_route_path(request: web.Request) -> str | None:
    route = _find_route(request)
    return None if route is None else parse_route_path(route)


def witness_middleware(witness: Witness) -> Middleware:
    """Return a middleware through which `witness` observes the traffic. It neither changes nor delays the traffic.

    Make it the first middleware. Requests without a route are not observed. A streamed response is reported without its
    shape.
    """

    @web.middleware
    async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await handler(request)
        except web.HTTPException as answer:
            _report(witness, request, answer)
            raise
        except Exception:  # reported as a 500, and raised again
            _report(witness, request, None)
            raise
        if isinstance(response, web.FileResponse) and not response.prepared:
            _report_when_prepared(witness, request, response)
        else:
            _report(witness, request, response)
        return response

    return observe


def _report_when_prepared(witness: Witness, request: web.Request, response: web.FileResponse) -> None:
    """Report the exchange when aiohttp sends the file: only then are its status and its type known."""
    prepare = response.prepare

    async def prepare_and_report(sent_request: web.BaseRequest) -> AbstractStreamWriter | None:
        try:
            return await prepare(sent_request)
        finally:
            _report(witness, request, response)

    vars(response)["prepare"] = prepare_and_report  # aiohttp has no hook for one response


def _report(witness: Witness, request: web.Request, response: web.StreamResponse | None) -> None:
    """Report the exchange.

    response: None if the handler raised, so that the server sends a 500.
    """
    with suppress(Exception):  # observing must not break the response
        route = _find_route(request)
        if route is None:
            return
        status = 500 if response is None else response.status
        path, _, query = request.raw_path.partition("?")
        headers = {} if response is None else response.headers
        request_type = request.headers.get("Content-Type") if request.body_exists else None
        response_type = choose_type(headers.get("Content-Type"), headers.get("Content-Length"))
        if witness.settles(
            request.method, lambda: path, status, route,
            request_content_type=request_type, response_content_type=response_type,
        ):  # fmt: skip
            return
        witness.observe(
            request.method, path, status,
            route=route,
            query=query,
            request_body=_finish_request_body(request, request_type),
            request_content_type=request_type,
            request_encoding=None,  # aiohttp has decoded what it gives to its handlers
            response_body=_read_response_body(response) if response_type else None,
            response_content_type=response_type,
            response_encoding=headers.get("Content-Encoding"),
        )  # fmt: skip


def _finish_request_body(request: web.Request, content_type: str | None) -> CopiedBody:
    """Return what the handler has read of the body; read nothing more."""
    if content_type is None:
        return None
    if request._read_bytes is None and find_boundary(content_type) and (fields := request._post):
        files = ((name, isinstance(value, web.FileField)) for name, value in fields.items())
        return finish_form(lambda: build_form(FormField(*field) for field in files))
    if not is_readable(content_type):
        return Unread.NOT_JSON
    return Unread.INCOMPLETE if request._read_bytes is None else request._read_bytes


def _read_response_body(response: web.StreamResponse | None) -> CopiedBody:
    if response is None or "Content-Type" not in response.headers:
        return None
    if not is_json(response.headers["Content-Type"]):
        return Unread.NOT_JSON
    body = response.body if isinstance(response, web.Response) else Unread.INCOMPLETE
    return bytes(body) if isinstance(body, bytes | bytearray) else None if body is None else Unread.INCOMPLETE
