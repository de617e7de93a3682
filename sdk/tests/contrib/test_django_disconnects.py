"""Under ASGI, Django cancels the call of a client who is gone: no call stays in flight, nor runs twice in a thread."""

import asyncio
import json
import threading

import pytest
from support.signed_calls import encode_json, make_protection, sign_call

from affidavit import MemoryDeliveries, MemoryNonces

pytest.importorskip("django", reason="needs Django")
pytest.importorskip("pytest_django", reason="needs pytest-django")

import django
from django.core.asgi import get_asgi_application
from django.http import JsonResponse
from django.test import AsyncClient, Client
from django.urls import path

from affidavit.contrib.django import intent_required

pytestmark = pytest.mark.urls(__name__)

notices_disconnects = pytest.mark.skipif(django.VERSION < (5, 0), reason="Django 4.2 does not notice who is gone")

ARGS = {"isbn": "978"}
MIDDLEWARE = "affidavit.contrib.django.IntentMiddleware"


class Pause:
    """A moment in which a step of a request waits until its client is gone."""

    def __init__(self):
        self._has_begun, self._is_over = threading.Event(), threading.Event()

    def hold(self):
        self._has_begun.set()
        assert self._is_over.wait(10)

    def wait_until_begun(self):
        assert self._has_begun.wait(10)

    def end(self):
        self._is_over.set()


class SlowNonces(MemoryNonces):
    is_in_memory = False

    def __init__(self, pause):
        super().__init__(several_workers=True)
        self._pauses = [pause]

    def burn(self, *arguments, **times):
        if self._pauses:
            self._pauses.pop().hold()
        return super().burn(*arguments, **times)


class SlowDeliveries(MemoryDeliveries):
    is_in_memory = False

    def __init__(self, pause):
        super().__init__(several_workers=True)
        self._pauses = [pause]

    def claim(self, *arguments, **times):
        delivery = super().claim(*arguments, **times)
        if self._pauses:
            self._pauses.pop().hold()
        return delivery


def order(request):
    return JsonResponse({"ok": True})


async def order_async(request):
    return JsonResponse({"ok": True})


runs, pauses = [], []


def wait_for_disconnect(request):
    """Work until the client is gone."""
    runs.append(request.path)
    if pauses:
        pauses.pop().hold()
    return JsonResponse({"ok": True})


@intent_required
async def lose_client_at_end(request):
    """Lose the client just when the work is done."""
    if request.headers.get("x-goes"):
        asyncio.current_task().cancel()
    return JsonResponse({"ok": True})


@intent_required
async def run_in_scope(request):
    """Run in a scope that cancels its task again and again until the task has ended, as scopes of anyio do."""
    if request.headers.get("x-goes"):
        request.cancelling = asyncio.create_task(cancel_until_done(asyncio.current_task()))
        await asyncio.sleep(10)
    return JsonResponse({"ok": True})


async def cancel_until_done(task):
    while not task.done():
        task.cancel()
        await asyncio.sleep(0)


urlpatterns = [
    path("last-moment", lose_client_at_end),
    path("scoped", run_in_scope),
    path("waiting", wait_for_disconnect),
    path("decorated-waiting", intent_required(wait_for_disconnect)),
    path("order", order),
    path("awaited", order_async),
    path("decorated", intent_required(order)),
    path("awaited-decorated", intent_required(order_async)),
]


async def call_and_hang_up(address, header, pause):
    """Send one request, and hang up while it is being verified."""
    body = [{"type": "http.request", "body": encode_json(ARGS), "more_body": False}]

    async def receive():
        if body:
            return body.pop()
        await asyncio.to_thread(pause.wait_until_begun)
        asyncio.get_running_loop().call_later(0.2, pause.end)
        return {"type": "http.disconnect"}

    async def send(message):
        pass

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": address, "raw_path": address.encode(), "query_string": b"", "root_path": "",
        "headers": [(b"content-type", b"application/json"), (b"x-service-intent", header.encode())],
    }  # fmt: skip
    await get_asgi_application()(scope, receive, send)
    await asyncio.sleep(0.3)  # a thread may still be verifying


@notices_disconnects
@pytest.mark.parametrize("slow", ["nonces", "deliveries"])
@pytest.mark.parametrize(
    ("address", "everything"),
    [("/order", True), ("/awaited", True), ("/decorated", False), ("/awaited-decorated", False)],
)
def test_a_retry_runs_the_call_of_a_client_who_was_gone_while_it_was_verified(settings, address, everything, slow):
    pause = Pause()
    stores = {"nonces": SlowNonces(pause)} if slow == "nonces" else {"deliveries": SlowDeliveries(pause)}
    settings.MIDDLEWARE = [MIDDLEWARE] if everything else []
    settings.AFFIDAVIT_PROTECTION = make_protection(**stores)
    asyncio.run(call_and_hang_up(address, sign_call(f"POST {address}", ARGS, tool_call_id="c"), pause))
    header = sign_call(f"POST {address}", ARGS, tool_call_id="c")
    answer = Client().post(
        address, encode_json(ARGS), content_type="application/json", headers={"x-service-intent": header}
    )
    assert (answer.status_code, json.loads(answer.content)) == (200, {"ok": True})


@notices_disconnects
@pytest.mark.parametrize(("address", "everything"), [("/waiting", True), ("/decorated-waiting", False)])
def test_a_view_in_a_thread_whose_client_is_gone_does_not_run_again_for_a_retry(settings, address, everything):
    """No thread can be cancelled: the view does its work, and its response is kept."""
    pause = Pause()
    runs.clear()
    pauses.append(pause)
    settings.MIDDLEWARE = [MIDDLEWARE] if everything else []
    settings.AFFIDAVIT_PROTECTION = make_protection()
    asyncio.run(call_and_hang_up(address, sign_call(f"POST {address}", ARGS, tool_call_id="c"), pause))
    header = sign_call(f"POST {address}", ARGS, tool_call_id="c")
    answer = Client().post(
        address, encode_json(ARGS), content_type="application/json", headers={"x-service-intent": header}
    )
    assert (answer.status_code, answer.headers.get("Idempotent-Replayed"), len(runs)) == (200, "true", 1)


async def call_once(address, number, **headers):
    headers["x-service-intent"] = sign_call(f"POST {address}", ARGS, tool_call_id=f"c{number}")
    return await AsyncClient().post(address, encode_json(ARGS), content_type="application/json", headers=headers)


def test_a_retry_runs_a_call_that_was_cancelled_again_and_again(settings):
    settings.MIDDLEWARE, settings.AFFIDAVIT_PROTECTION = [], make_protection()
    for number in range(10):
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(call_once("/scoped", number, **{"x-goes": "1"}))
        assert asyncio.run(call_once("/scoped", number)).status_code == 200


def test_the_response_of_a_call_that_has_run_is_kept_even_if_its_client_is_gone_just_then(settings):
    settings.MIDDLEWARE, settings.AFFIDAVIT_PROTECTION = [], make_protection()

    for number in range(30):
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(call_once("/last-moment", number, **{"x-goes": "1"}))
        assert asyncio.run(call_once("/last-moment", number)).headers.get("Idempotent-Replayed") == "true"
