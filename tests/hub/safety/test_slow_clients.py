"""Clients that send or read slowly occupy no thread that others need: slow ones get a 408 or are cut off."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from hypothesis import given
from hypothesis import strategies as st

from hub.web import application as web_application
from hub.web import receive_body as receive_body_module
from hub.web.application import Application
from hub.web.environ import build_environ
from hub.web.receive_body import BodyBroken, BodyTooSlow, Buffer, receive_body
from hub.web.stream_limit import STREAMS, StreamLimitMiddleware
from wire.http.body import MAX_BODY_BYTES
from wire.http.request_id import RequestIdMiddleware
from wire.http.request_metrics import RequestMetricsMiddleware
from wire.metrics.definitions import REQUESTS

SLOW_CLIENTS = 60  # many times the threads of both web processes
SILENT_CLIENTS = 1100  # clients that connect and send nothing
STALLED_FORMS = 8  # as many as both web processes have threads


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


@given(st.lists(st.binary(max_size=200)))
def test_a_body_is_the_sum_of_its_pieces(pieces):
    buffer = Buffer()
    assert asyncio.run(receive_body(receive_pieces(pieces), buffer)) == b"".join(pieces)
    assert buffer.size == 0


def test_of_a_body_that_is_too_large_only_one_byte_beyond_the_limit_is_kept():
    pieces = [b"x" * 1024 * 1024] * 10
    body = asyncio.run(receive_body(receive_pieces(pieces), Buffer()))
    assert len(body) == MAX_BODY_BYTES + 1


@pytest.mark.parametrize("ends", [True, False])
def test_a_body_slower_than_the_minimum_rate_is_given_up(monkeypatch, ends):
    monkeypatch.setattr(receive_body_module, "GRACE_SECONDS", 0.2)
    buffer = Buffer()
    with pytest.raises(BodyTooSlow):
        asyncio.run(receive_body(receive_pieces([b"x"] * 1000, pause=0.05, ends=ends), buffer))
    assert buffer.size == 0


def test_a_body_faster_than_the_minimum_rate_may_take_longer_than_the_grace(monkeypatch):
    monkeypatch.setattr(receive_body_module, "GRACE_SECONDS", 0.2)
    pieces = [b"x" * 64 * 1024] * 10
    assert len(asyncio.run(receive_body(receive_pieces(pieces, pause=0.1), Buffer()))) == 640 * 1024


def test_a_client_that_hangs_up_is_an_error_and_not_an_empty_body():
    async def receive() -> Any:
        return {"type": "http.disconnect"}

    with pytest.raises(BodyBroken):
        asyncio.run(receive_body(receive, Buffer()))


def test_headers_with_underscores_are_dropped():
    scope = {"method": "GET", "path": "/caf\u00e9", "query_string": b"a=1", "http_version": "1.1"}
    headers = [(b"x_forwarded_for", b"1"), (b"accept", b"a"), (b"accept", b"b"), (b"content-type", b"c")]
    environ = build_environ({**scope, "headers": headers}, b"body")
    assert "HTTP_X_FORWARDED_FOR" not in environ
    assert (environ["HTTP_ACCEPT"], environ["CONTENT_TYPE"], environ["CONTENT_LENGTH"]) == ("a,b", "c", "4")
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/caf\u00e9"


@pytest.mark.xdist_group("whole hub")
def test_clients_that_stall_in_their_bodies_delay_nobody_and_get_an_answer(hub, hub_keys):
    host, port = hub.address.removeprefix("http://").split(":")
    head = (
        f"POST /api/conversation-outcomes HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"x-service-api-key: {hub_keys['secretKey']}\r\nContent-Length: 1000\r\n\r\n"
    )
    with ExitStack() as stack:
        stalled_connections = [
            stack.enter_context(socket.create_connection((host, int(port)))) for _ in range(SLOW_CLIENTS)
        ]
        for connection in stalled_connections:
            connection.sendall(head.encode() + b'{"outcomes": [')
        for _ in range(20):
            status, body, _ = hub.request("/api/conversation-outcomes", {"outcomes": []}, key=hub_keys["secretKey"])
            assert (status, body["recorded"]) == (200, 0)
        for connection in stalled_connections[:3]:
            connection.settimeout(30)
            answer = read_to_the_end(connection)
            assert b" 408 " in answer.splitlines()[0]
            assert b"body-too-slow" in answer


def read_to_the_end(connection: socket.socket) -> bytes:
    answer = b""
    while piece := connection.recv(65536):
        answer += piece
    return answer


def count_requests(status: str) -> float:
    """Return how many requests of no known route were measured with this status."""
    (metric,) = REQUESTS.collect()
    return sum(
        sample.value
        for sample in metric.samples
        if sample.name.endswith("_count") and (sample.labels["route"], sample.labels["status"]) == ("", status)
    )


def test_clients_that_never_read_their_downloads_occupy_no_thread_that_others_need(monkeypatch):
    monkeypatch.setattr(web_application, "STALL_SECONDS", 2)
    refused_before = count_requests("429")
    statuses: list[tuple[str, int]] = []
    bodies: list[bytes] = []

    def view(request: HttpRequest) -> Any:
        if request.path == "/export.csv":
            return StreamingHttpResponse([b"x"], headers={"Content-Disposition": "attachment"})
        return HttpResponse(b"quick")

    answer_request = RequestMetricsMiddleware(RequestIdMiddleware(StreamLimitMiddleware(view)))

    def answer(environ: Any, start_response: Any) -> Any:
        response = answer_request(WSGIRequest(environ))
        start_response(f"{response.status_code} -", list(response.items()))
        return response

    async def call(application: Application, path: str) -> None:
        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append((path, message["status"]))
                if (path, message["status"]) == ("/export.csv", 200):
                    await asyncio.Event().wait()  # act as a client that reads nothing
                assert message["status"] == 200 or b"content-disposition" not in dict(message["headers"])
            elif message["body"]:
                bodies.append(message["body"])

        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "http_version": "1.1"}
        await application({**scope, "headers": [(b"x-request-id", b"r1")]}, receive_pieces([]), send)

    async def run() -> None:
        application = Application(answer, threads=2)
        exports = [asyncio.create_task(call(application, "/export.csv")) for _ in range(STREAMS + 20)]
        await asyncio.sleep(0.5)
        await asyncio.wait_for(call(application, "/quick"), timeout=1)
        assert statuses[-1] == ("/quick", 200)
        await asyncio.gather(*exports)

    asyncio.run(run())
    assert [statuses.count(("/export.csv", status)) for status in (200, 429)] == [STREAMS, 20]
    refusal = json.loads(bodies[0])
    assert (refusal["code"], refusal["status"], refusal["requestId"]) == ("rate-limited", 429, "r1")
    assert count_requests("429") - refused_before == 20


def test_people_who_wait_for_the_sign_in_service_occupy_no_thread_that_others_need():
    provider_answered = threading.Event()

    def answer(environ: Any, start_response: Any) -> Any:
        if environ["PATH_INFO"].startswith("/account/oidc"):
            provider_answered.wait(10)
        start_response("200 OK", [])
        return [b""]

    async def call(application: Application, path: str) -> None:
        async def send(_: Any) -> None:
            pass

        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "http_version": "1.1"}
        await application({**scope, "headers": []}, receive_pieces([]), send)

    async def run() -> None:
        application = Application(answer)
        paths = ["/account/oidc", "/account/oidc/callback"] * 10
        sign_ins = [asyncio.create_task(call(application, path)) for path in paths]
        await asyncio.sleep(0.1)
        await asyncio.wait_for(call(application, "/sign-in"), timeout=1)
        provider_answered.set()
        await asyncio.gather(*sign_ins)

    asyncio.run(run())


@pytest.mark.xdist_group("whole hub")
def test_silent_clients_and_stalled_forms_block_nobody_and_are_closed(hub):
    host, port = hub.address.removeprefix("http://").split(":")
    head = (
        f"POST /sign-in HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Cookie: csrftoken=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nContent-Length: 100000\r\n\r\nusername="
    )
    with ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=30)) for _ in range(SILENT_CLIENTS)
        ]
        for client in clients[:STALLED_FORMS]:
            client.sendall(head.encode())
        for _ in range(5):
            start_time = time.monotonic()
            assert hub.request("/healthz")[0] == 200
            assert hub.request("/sign-in")[0] == 200
            assert time.monotonic() - start_time < 2
            time.sleep(0.2)
        for client in clients[STALLED_FORMS::100]:
            assert client.recv(100) == b""  # the hub closed it without an answer about 10 s after it connected
        assert b" 408 " in read_to_the_end(clients[0]).splitlines()[0]
