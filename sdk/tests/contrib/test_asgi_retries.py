"""Deliveries of one call under ASGI: repeated, simultaneous, cancelled, and without a reachable store."""

import asyncio
from contextvars import copy_context
from functools import partial

import pytest
from support.asgi_calls import exchange, in_loop
from support.paused_deliveries import PausedDeliveries
from support.signed_calls import UnreachableStore, encode_json, make_protection, sign_call

from affidavit import SqliteDeliveries
from affidavit.contrib.asgi import IntentMiddleware, current_intent, intent_required

pytest.importorskip("starlette", reason="needs Starlette")

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

ARGS = {"isbn": "978", "qty": 2}
JSON = ("content-type", "application/json")


async def order(request):
    request.app.state.runs.append(current_intent().args)
    return JSONResponse({}, 201, {"set-cookie": "s=1"})


@intent_required
async def broken(request):
    request.app.state.runs.append("broken")
    if len(request.app.state.runs) == 1:
        raise RuntimeError("on purpose")
    return JSONResponse({"runs": len(request.app.state.runs)})


async def large(request):
    request.app.state.runs.append("large")
    return StreamingResponse((b"x" * 1000 for _ in range(20)), media_type="text/plain")


async def slow(request):
    request.app.state.runs.append("slow")
    await asyncio.sleep(30)


def shop(guard, *, everything=True, outermost=False, instead=None):
    """Return a Starlette app. It is protected, unless `outermost` says that the test protects it.

    instead: the view at POST /orders.
    """
    guarded = [] if outermost else [Middleware(IntentMiddleware, protection=guard, everything=everything)]
    views = {"/orders": instead or order, "/broken": broken, "/large": large, "/slow": slow}
    routes = [Route(path, view, methods=["POST"]) for path, view in views.items()]
    app = Starlette(routes=routes, middleware=guarded)
    app.state.runs = []
    return app


async def post(app, path, header):
    return await exchange(app, "POST", path, [JSON, ("x-service-intent", header)], [encode_json(ARGS)])


@in_loop
async def test_a_retry_gets_the_first_response_and_runs_nothing():
    app = shop(make_protection())
    first, second = [await post(app, "/orders", sign_call("POST /orders", ARGS, tool_call_id="c")) for _ in range(2)]
    assert (first.status, first.body) == (second.status, second.body)
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert "set-cookie" not in second.headers
    assert len(app.state.runs) == 1


@in_loop
async def test_of_simultaneous_deliveries_one_runs_and_the_others_get_409():
    gate = asyncio.Event()

    async def waiting(request):
        request.app.state.runs.append("waiting")
        await gate.wait()
        return JSONResponse({})

    app = shop(make_protection(), instead=waiting)
    headers = [sign_call("POST /orders", ARGS, tool_call_id="c") for _ in range(4)]
    calls = [asyncio.create_task(post(app, "/orders", header)) for header in headers]
    while sum(call.done() for call in calls) < 3:
        await asyncio.sleep(0.01)
    gate.set()
    answers = await asyncio.gather(*calls)
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409]
    assert all("retry-after" in answer.headers for answer in answers if answer.status == 409)
    assert app.state.runs == ["waiting"]


@pytest.mark.parametrize("outermost", [False, True])
@in_loop
async def test_after_a_view_that_raises_a_retry_runs(outermost):
    app = shop(guard := make_protection(), everything=False, outermost=outermost)
    served = IntentMiddleware(app, guard, everything=False) if outermost else app
    with pytest.raises(RuntimeError, match="on purpose"):
        await post(served, "/broken", sign_call("POST /broken", ARGS, tool_call_id="c"))
    answer = await post(served, "/broken", sign_call("POST /broken", ARGS, tool_call_id="c"))
    assert (answer.status, answer.json) == (200, {"runs": 2})


@in_loop
async def test_after_the_caller_disconnected_a_retry_runs():
    app = shop(make_protection())
    for _ in range(2):
        call = asyncio.create_task(post(app, "/slow", sign_call("POST /slow", ARGS, tool_call_id="c")))
        runs = len(app.state.runs)
        while len(app.state.runs) == runs:
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert app.state.runs == ["slow", "slow"]


@pytest.mark.parametrize("cancels_once", [True, False])
@in_loop
async def test_a_call_cancelled_during_its_claim_leaves_no_claim(cancels_once):
    deliveries = PausedDeliveries()
    app = shop(make_protection(deliveries=deliveries))
    call = asyncio.create_task(post(app, "/orders", sign_call("POST /orders", ARGS)))
    await asyncio.to_thread(deliveries.claiming.wait, 10)
    while not call.done():  # as a cancel scope of anyio does: until the task has ended
        call.cancel()
        await asyncio.sleep(0.01)
        if cancels_once:
            break
    deliveries.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await call
    while not deliveries.abandoned:
        await asyncio.sleep(0.01)
    assert len(deliveries.abandoned) == 1
    assert app.state.runs == []


@in_loop
async def test_the_response_of_a_call_that_has_run_is_kept_even_if_it_is_cancelled_just_then(tmp_path):
    """Quart, for one, cancels the request of a client who is gone."""

    async def last_moment(scope, receive, send):
        runs.append(scope["path"])
        await send({"type": "http.response.start", "status": 201, "headers": []})
        asyncio.current_task().cancel()
        await send({"type": "http.response.body", "body": b"done"})

    runs = []
    guard = make_protection(deliveries=SqliteDeliveries(tmp_path / "deliveries"))
    app = IntentMiddleware(last_moment, guard)
    for number in range(20):
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(post(app, "/o", sign_call("POST /o", ARGS, tool_call_id=f"c{number}")))
        retry = await post(app, "/o", sign_call("POST /o", ARGS, tool_call_id=f"c{number}"))
        assert (retry.status, retry.body, retry.headers.get("idempotent-replayed")) == (201, b"done", "true")
    assert len(runs) == 20


@in_loop
async def test_a_response_too_large_to_keep_is_sent_whole_and_its_retry_does_not_run():
    app = shop(make_protection(max_kept=5000))
    first = await post(app, "/large", sign_call("POST /large", ARGS, tool_call_id="c"))
    assert first.body == b"x" * 20_000
    second = await post(app, "/large", sign_call("POST /large", ARGS, tool_call_id="c"))
    assert (second.status, second.json["code"]) == (409, "response-not-kept")
    assert app.state.runs == ["large"]


@pytest.mark.parametrize("stores", [{"nonces": UnreachableStore()}, {"deliveries": UnreachableStore()}])
@in_loop
async def test_an_unreachable_store_is_503_and_nothing_runs(stores):
    app = shop(make_protection(**stores))
    answer = await post(app, "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status, answer.json["code"]) == (503, "unavailable")
    assert int(answer.headers["retry-after"]) > 0
    assert app.state.runs == []


@in_loop
async def test_a_view_that_begins_after_its_app_has_ended_does_not_run():
    """As in a framework that cancels the call of a client who is gone, while the thread of its view is beginning."""
    views, runs = [], []

    @intent_required
    def view():
        runs.append(current_intent().args)

    async def framework(scope, receive, send):
        views.append(partial(copy_context().run, view))

    guarded = IntentMiddleware(framework, make_protection(), everything=False)
    with pytest.raises(IndexError):  # no answer
        await post(guarded, "/o", sign_call("POST /o", ARGS, tool_call_id="c"))
    with pytest.raises(asyncio.CancelledError):
        await asyncio.to_thread(views[0])
    assert runs == []
