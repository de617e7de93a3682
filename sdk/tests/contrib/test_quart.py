"""Calls of an app of Quart, which logs any error but a client's, ends after the client only, and cancels calls."""

import asyncio
import logging
import sys
import threading
from types import ModuleType

import pytest
from support.asgi_calls import exchange, in_loop
from support.paused_deliveries import PausedDeliveries
from support.signed_calls import encode_json, make_protection, sign_call

from affidavit.contrib.asgi import IntentMiddleware, IntentRefused, intent_required

ARGS = {"isbn": "978"}
JSON = ("content-type", "application/json")


@pytest.mark.parametrize(
    ("framework", "module", "name"),
    [
        ("quart", "werkzeug.exceptions", "HTTPException"),
        ("falcon.asgi", "falcon", "HTTPError"),
        ("sanic", "sanic.exceptions", "SanicException"),
        ("blacksheep", "blacksheep.exceptions", "HTTPException"),
    ],
)
@in_loop
async def test_a_refusal_is_an_error_of_the_client_in_the_terms_of_the_framework(framework, module, name, monkeypatch):
    client_error = getattr(pytest.importorskip(module, reason=f"needs {module}"), name)
    for other in ("quart", "falcon.asgi", "sanic", "blacksheep"):
        monkeypatch.delitem(sys.modules, other, raising=False)
    monkeypatch.setitem(sys.modules, framework, ModuleType(framework))

    refusals = []

    async def app(scope, receive, send):
        try:
            await intent_required(asyncio.sleep)(0)
        except IntentRefused as refusal:
            refusals.append(refusal)

    response = await exchange(IntentMiddleware(app, make_protection(), everything=False), "POST", "/orders")
    assert response.status == 403
    assert isinstance(refusals[0], client_error)


@in_loop
async def test_a_refused_call_is_answered_and_logs_nothing(caplog):
    quart = pytest.importorskip("quart", reason="needs Quart")
    app = quart.Quart("shop")

    @app.post("/orders")
    @intent_required
    async def order():
        return {"body": await quart.request.get_json()}

    guarded = IntentMiddleware(app, make_protection(), everything=False)
    with caplog.at_level(logging.INFO):
        refused = await exchange(guarded, "POST", "/orders", [JSON], [b"{}"])
    assert (refused.status, refused.json["reason"], caplog.records) == (403, "missing-header", [])
    headers = [JSON, ("x-service-intent", sign_call("POST /orders", ARGS))]
    answer = await exchange(guarded, "POST", "/orders", headers, [b'{"isbn": "978"}'])
    assert (answer.status, answer.json) == (200, {"body": ARGS})


async def order_once(app):
    headers = [JSON, ("x-service-intent", sign_call("POST /orders", ARGS, tool_call_id="c"))]
    return await exchange(app, "POST", "/orders", headers, [encode_json(ARGS)])


def lose_client(app, has_begun):
    """Return the app for a client who hangs up once `has_begun` is set."""

    async def call(scope, receive, send):
        requests = [await receive()]

        async def receive_until_gone():
            if requests:
                return requests.pop()
            await asyncio.to_thread(has_begun.wait, 10)
            return {"type": "http.disconnect"}

        await app(scope, receive_until_gone, send)

    return call


@pytest.mark.parametrize("everything", [True, False])
@in_loop
async def test_a_view_in_a_thread_whose_client_is_gone_does_not_run_again_for_a_retry(everything):
    """Quart cancels the call of such a client, but no thread can be cancelled."""
    quart = pytest.importorskip("quart", reason="needs Quart")
    app, runs = quart.Quart("shop"), []
    has_begun, may_end = threading.Event(), threading.Event()

    def order():
        runs.append(threading.current_thread())
        has_begun.set()
        may_end.wait(2)
        return {"ok": True}

    app.add_url_rule("/orders", view_func=order if everything else intent_required(order), methods=["POST"])
    guarded = IntentMiddleware(app, make_protection(), everything=everything)

    first = asyncio.create_task(order_once(lose_client(guarded, has_begun)))
    await asyncio.to_thread(has_begun.wait, 10)
    await asyncio.sleep(0.1)  # the client is gone, and the view still runs
    early_retry = await order_once(guarded)
    may_end.set()
    await asyncio.wait({first})
    late_retry = await order_once(guarded)
    assert (early_retry.status, early_retry.json["code"]) == (409, "call-in-flight")
    assert (late_retry.status, late_retry.json, len(runs)) == (200, {"ok": True}, 1)
    assert late_retry.headers["idempotent-replayed"] == "true"


@in_loop
async def test_a_view_in_a_thread_runs_once_if_its_client_is_gone_while_it_is_admitted():
    quart = pytest.importorskip("quart", reason="needs Quart")
    app, deliveries, runs = quart.Quart("shop"), PausedDeliveries(), []

    @app.post("/orders")
    @intent_required
    def order():
        runs.append(threading.current_thread())
        return {"ok": True}

    guarded = IntentMiddleware(app, make_protection(deliveries=deliveries), everything=False)

    first = asyncio.create_task(order_once(lose_client(guarded, deliveries.claiming)))
    await asyncio.to_thread(deliveries.claiming.wait, 10)
    await asyncio.sleep(0.1)  # the client is gone, and the store still works
    deliveries.go_on.set()
    await asyncio.wait({first})
    retry = await order_once(guarded)
    assert (retry.status, retry.json, len(runs)) == (200, {"ok": True}, 1)


@in_loop
async def test_a_call_that_only_reads_is_cancelled_with_its_client():
    quart = pytest.importorskip("quart", reason="needs Quart")
    app, has_begun, cancelled = quart.Quart("shop"), threading.Event(), []

    @app.get("/orders")
    async def wait():
        has_begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    guarded = IntentMiddleware(app, make_protection())
    calling = exchange(
        lose_client(guarded, has_begun), "GET", "/orders", [("x-service-intent", sign_call("GET /orders", {}))]
    )
    with pytest.raises(IndexError):  # no answer
        await asyncio.wait_for(calling, 5)
    assert cancelled == [True]
