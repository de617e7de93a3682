"""Measure the time that Affidavit's middleware adds to a request, with stores in memory.

Django and a bare ASGI app run within this process. For uvicorn (Starlette) and gunicorn (Flask), the time is the
processor time of the server.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Coroutine, Iterator
from itertools import count
from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse
from django.urls import path

from affidavit import IntentVerifier, MemoryDeliveries, MemoryNonces, Protection, mint_intent
from affidavit.contrib.asgi import IntentMiddleware
from bench._support.measure import measure_medians
from bench._support.result_table import Row, print_table
from bench._support.servers import REQUESTS, SERVERS, build_request, measure_servers
from bench._support.servers import ROUNDS as SERVER_ROUNDS
from bench.sdk.intents import AUDIENCE, SECRET, WORKSPACE

LIMIT = 60
ROUNDS, CALLS = 1_000, 5
"""Rounds are short, so that other work of the machine affects few of them."""
BODY = json.dumps({"lines": [{"sku": "B-17", "quantity": 2, "price": 12.5}], "note": "für Ömer"}).encode()
MIDDLEWARE = "affidavit.contrib.django.IntentMiddleware"


def order(request: HttpRequest) -> HttpResponse:
    return HttpResponse(str(len(request.body)))


def mint_headers() -> Iterator[str]:
    """Return a fresh intent for each call, minted beforehand."""
    call = {"tenant_id": WORKSPACE, "sub": "user-42", "aud": AUDIENCE, "operation": "POST /orders", "lifetime": 900}
    return iter([mint_intent(SECRET, args=json.loads(BODY), **call).header for _ in range(ROUNDS * CALLS)])


def build_caller(protection: Protection | None) -> Callable[[], object]:
    """Return a function that sends one request to a site, protected or not; it raises if the status is not 200."""
    settings.MIDDLEWARE = [] if protection is None else [MIDDLEWARE]
    settings.AFFIDAVIT_PROTECTION = protection
    handler, intents, numbers = WSGIHandler(), mint_headers(), count()

    def call() -> None:
        response = handler(_environ(next(intents)), lambda *_: None)
        if response.status_code != 200:
            raise AssertionError(f"request {next(numbers)} was answered {response.status_code}")

    return call


def _environ(header: str) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": "POST", "PATH_INFO": "/orders", "SCRIPT_NAME": "", "QUERY_STRING": "",
        "SERVER_NAME": "testserver", "SERVER_PORT": "80", "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(BODY),
        "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(BODY)), "HTTP_X_SERVICE_INTENT": header,
    }  # fmt: skip


async def answer_ok(scope: Any, receive: Any, send: Any) -> None:
    """Act as a minimal ASGI app that reads the body of the request."""
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def build_asgi_caller(protection: Protection | None) -> Callable[[], object]:
    """Return a function that sends one request to an ASGI app, protected or not; it raises if the status is not 200."""
    app = answer_ok if protection is None else IntentMiddleware(answer_ok, protection)
    intents = mint_headers()
    statuses: list[int] = []
    loop = asyncio.new_event_loop()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message: Any) -> None:
        if "status" in message:
            statuses.append(message["status"])

    def call() -> None:
        _run_on(loop, app(_scope(next(intents)), receive, send))
        if (status := statuses.pop()) != 200:
            raise AssertionError(f"a request was answered {status}")

    return call


def _run_on(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine as if the loop ran, whose own time would count. With stores in memory no call waits."""
    asyncio._set_running_loop(loop)
    try:
        coroutine.send(None)
    except StopIteration:
        return
    finally:
        asyncio._set_running_loop(None)
    raise AssertionError("the app waited for something")


def _scope(header: str) -> dict[str, Any]:
    return {
        "type": "http", "http_version": "1.1", "method": "POST", "path": "/orders", "raw_path": b"/orders",
        "query_string": b"", "root_path": "", "scheme": "http", "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1), "headers": [
            (b"host", b"localhost"), (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(BODY)), (b"x-service-intent", header.encode()),
        ],
    }  # fmt: skip


def build_protection(*, with_deliveries: bool = True) -> Protection:
    verifier = IntentVerifier(
        secrets=SECRET, workspace=WORKSPACE, audience=AUDIENCE, nonces=MemoryNonces(several_workers=True)
    )
    return Protection(verifier, MemoryDeliveries(several_workers=True) if with_deliveries else None)


def rows() -> Iterator[Row]:
    candidates = {
        "bare": build_caller(None),
        "nonces": build_caller(build_protection(with_deliveries=False)),
        "deliveries": build_caller(build_protection()),
    }
    times = measure_medians(candidates, calls=CALLS, rounds=ROUNDS)
    for label, name in (("Django middleware, memory nonces", "nonces"), ("... and memory deliveries", "deliveries")):
        added_time = times[name] - times["bare"]
        yield Row(label, f"{times[name]:.1f} µs", f"no middleware {times['bare']:.1f} µs", added_time, LIMIT, "µs")


def asgi_rows() -> Iterator[Row]:
    candidates = {"bare": build_asgi_caller(None), "protected": build_asgi_caller(build_protection())}
    times = measure_medians(candidates, calls=CALLS, rounds=ROUNDS)
    label, measured = "ASGI middleware, memory nonces and deliveries", f"{times['protected']:.1f} µs"
    yield Row(label, measured, f"no middleware {times['bare']:.1f} µs", times["protected"] - times["bare"], LIMIT, "µs")


def server_rows() -> Iterator[Row]:
    """Measure both servers. Every request has an intent of its own, and goes to the app with and without protection."""
    call = {"tenant_id": WORKSPACE, "sub": "user-42", "aud": AUDIENCE, "operation": "POST /orders", "lifetime": 900}
    for server in SERVERS:
        headers = (
            mint_intent(SECRET, args=json.loads(BODY), **call).header for _ in range(REQUESTS * (SERVER_ROUNDS + 1))
        )
        requests = [build_request("POST", "/orders", BODY, header) for header in headers]
        times = measure_servers(server, {"": requests, "protection": requests})
        added_time = times["protection"] - times[""]
        label, measured = f"{server}, memory nonces and deliveries", f"{times['protection']:.0f} µs"
        yield Row(label, measured, f"no middleware {times['']:.0f} µs", added_time, LIMIT, "µs")


if __name__ == "__main__":
    settings.configure(ROOT_URLCONF=(path("orders", order),), ALLOWED_HOSTS=["testserver"], DATABASES={})
    django.setup()
    print_table([*rows(), *asgi_rows(), *server_rows()])
