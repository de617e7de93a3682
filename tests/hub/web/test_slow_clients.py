"""Clients that send or read slowly occupy no thread that others need: slow ones get a 408 or are cut off."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from contextlib import ExitStack
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from hub.web import application as web_application
from hub.web.application import Application
from hub.web.stream_limit import STREAMS, StreamLimitMiddleware
from tests.hub.web.request_bodies import receive_pieces
from wire.http.request_id import RequestIdMiddleware
from wire.http.request_metrics import RequestMetricsMiddleware
from wire.metrics.definitions import REQUESTS

SLOW_CLIENTS = 60  # many times the threads of both web processes
SILENT_CLIENTS = 1100  # clients that connect and send nothing
STALLED_FORMS = 8  # as many as both web processes have threads


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
