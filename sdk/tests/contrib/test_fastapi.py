"""Routes of FastAPI that verify the intent before anything of the app runs."""

import asyncio
import threading
import time
from typing import Annotated

import pytest
from support.asgi_calls import exchange, in_loop
from support.signed_calls import RecordedReports, encode_json, make_protection, sign_bytes, sign_call, sign_v1_call

fastapi = pytest.importorskip("fastapi", reason="needs FastAPI")

from fastapi import APIRouter, Depends, FastAPI, Request, WebSocket
from fastapi.routing import APIRoute
from pydantic import BaseModel

from affidavit.contrib.fastapi import IntentMiddleware, IntentRoute, VerifiedIntent, current_intent, intent_required

JSON = ("content-type", "application/json")
ARGS = {"isbn": "978", "qty": 2}
BODY = encode_json(ARGS)


class Order(BaseModel):
    isbn: str
    qty: int


def shop(protection=None, *, everything=False):
    """Return an app that records in `app.state.runs` which of its functions ran."""
    runs = []

    def depend(name):
        async def dependency():
            runs.append(name)
            yield name

        return Depends(dependency)

    router = APIRouter(route_class=IntentRoute, prefix="/shop", dependencies=[depend("router")])

    @router.post("/orders/{number}", dependencies=[depend("route")])
    async def order(number: int, order: Order, parameter: Annotated[str, depend("parameter")], intent: VerifiedIntent):
        runs.append("view")
        return {"number": number, "isbn": order.isbn, "sub": intent.sub, "args": intent.args}

    @router.post("/refunds")
    @intent_required(minimum_version=2)
    def refund(order: Order, intent: VerifiedIntent):
        runs.append(threading.current_thread() is threading.main_thread())
        return intent.args

    @router.post("/notes")
    async def note(request: Request):
        return (await request.body()).decode()

    app = FastAPI(dependencies=[depend("app")])
    app.include_router(router)

    @app.get("/health")
    async def health():
        return {"ok": True}

    @app.exception_handler(Exception)
    async def fault(request, exception):
        runs.append(exception)

    app.add_middleware(IntentMiddleware, protection=protection or make_protection(), everything=everything)
    app.state.runs = runs
    return app


async def post(app, path, header=None, body=BODY, content_type=JSON):
    headers = [content_type, *([("x-service-intent", header)] if header else [])]
    return await exchange(app, "POST", path, headers, [body])


@pytest.mark.parametrize("body", [b"", b"{", b'{"qty": "many"}', BODY])
@pytest.mark.parametrize("path", ["/shop/orders/7", "/shop/orders/seven", "/shop/refunds", "/shop/notes"])
@in_loop
async def test_nothing_of_the_app_runs_before_the_intent_is_verified(path, body):
    app = shop()
    for header in (None, sign_call("POST /other", ARGS)):
        answer = await post(app, path, header, body)
        assert (answer.status, answer.json["code"]) == (403, "intent-rejected")
    assert app.state.runs == []


@in_loop
async def test_a_signed_call_reaches_the_view_validated_with_its_intent():
    app = shop(make_protection(reports=(reports := RecordedReports())))
    answer = await post(app, "/shop/orders/7", sign_call("POST /shop/orders/7", ARGS))
    assert answer.json == {"number": 7, "isbn": "978", "sub": "user-1", "args": ARGS}
    assert app.state.runs == ["app", "router", "route", "parameter", "view"]
    assert reports.operations == [("accepted", "POST /shop/orders/{number}")]


@in_loop
async def test_an_encoded_body_is_refused_before_validation():
    app = shop()
    headers = [JSON, ("content-encoding", "gzip"), ("x-service-intent", sign_call("POST /shop/notes", ARGS))]
    answer = await exchange(app, "POST", "/shop/notes", headers, [BODY])
    assert (answer.json["reason"], app.state.runs) == ("args-mismatch", [])


@in_loop
async def test_a_signed_call_is_validated_like_any_other():
    app = shop()
    answer = await post(app, "/shop/orders/7", sign_call("POST /shop/orders/7", {"qty": 1}), encode_json({"qty": 1}))
    assert (answer.status, answer.json["detail"][0]["loc"]) == (422, ["body", "isbn"])


@in_loop
async def test_a_retry_gets_the_first_response_and_runs_nothing():
    app = shop()
    answers = [await post(app, "/shop/refunds", sign_call("POST /shop/refunds", ARGS, tool_call_id="c")) for _ in "ab"]
    assert [answer.json for answer in answers] == [ARGS, ARGS]
    assert answers[1].headers["idempotent-replayed"] == "true"
    assert app.state.runs == ["app", "router", False]


@in_loop
async def test_a_route_may_demand_version_two_and_says_so_before_validation():
    app = shop()
    answer = await post(app, "/shop/refunds", sign_v1_call("POST", "/shop/refunds", now=time.time()), b"{")
    assert (answer.status, answer.json["reason"], app.state.runs) == (403, "unsupported-version", [])


@in_loop
async def test_the_app_can_still_read_the_body_itself():
    text = ("content-type", "text/plain")
    answer = await post(shop(), "/shop/notes", sign_bytes("POST /shop/notes", b"text"), b"text", text)
    assert (answer.status, answer.json) == (200, "text")


@in_loop
async def test_other_routes_need_no_intent_unless_everything_is_protected():
    assert (await exchange(shop(), "GET", "/health")).status == 200
    assert (await exchange(shop(everything=True), "GET", "/health")).status == 403


@in_loop
async def test_a_route_without_the_middleware_never_runs():
    router = APIRouter(route_class=IntentRoute)
    router.add_api_route("/x", lambda: "ran")
    app = FastAPI()
    app.include_router(router)
    with pytest.raises(RuntimeError, match="IntentMiddleware"):
        await exchange(app, "GET", "/x")


def streaming_shop(route_class, *, everything, protection=None):
    """Return an app with views that yield: `def` and `async def`, as lines of JSON and as events."""
    events = pytest.importorskip("fastapi.sse", reason="needs a FastAPI that streams what views yield")
    router, runs = APIRouter(route_class=route_class), []

    @router.post("/lines")
    @intent_required(minimum_version=2)
    async def yield_lines(request: Request):
        runs.append("lines")
        yield current_intent().args
        yield 2

    @router.post("/lines-of-thread")
    @intent_required(minimum_version=2)
    def yield_lines_in_thread(order: Order):
        runs.append(threading.current_thread() is threading.main_thread())
        yield current_intent().args
        yield 2

    @router.post("/events", response_class=events.EventSourceResponse)
    @intent_required(minimum_version=2)
    async def yield_events():
        runs.append("events")
        yield current_intent().args
        yield 2

    @router.post("/events-of-thread", response_class=events.EventSourceResponse)
    @intent_required(minimum_version=2)
    def yield_events_in_thread():
        runs.append(threading.current_thread() is threading.main_thread())
        yield current_intent().args
        yield 2

    app = FastAPI()
    app.include_router(router)
    app.add_middleware(IntentMiddleware, protection=protection or make_protection(), everything=everything)
    app.state.runs = runs
    return app


@pytest.mark.parametrize("path", ["/lines", "/lines-of-thread", "/events", "/events-of-thread"])
@pytest.mark.parametrize(("route_class", "everything"), [(APIRoute, False), (APIRoute, True), (IntentRoute, False)])
@in_loop
async def test_a_view_may_yield_what_it_sends(path, route_class, everything):
    reports = RecordedReports()
    app = streaming_shop(route_class, everything=everything, protection=make_protection(reports=reports))
    for header in (None, sign_call("POST /other", ARGS), sign_v1_call("POST", path, now=time.time())):
        answer = await post(app, path, header)
        assert (answer.status, answer.json["code"]) == (403, "intent-rejected")
    assert app.state.runs == []
    answer = await post(app, path, header := sign_call(f"POST {path}", ARGS))
    prefix = b"data: " if "events" in path else b""
    assert [line for line in answer.body.splitlines() if line] == [prefix + BODY, prefix + b"2"]
    assert len(app.state.runs) == 1
    assert True not in app.state.runs
    answer = await post(app, path, header)
    assert (answer.status, answer.json["reason"], len(app.state.runs)) == (403, "replayed", 1)
    assert [result for result, _ in reports.operations] == [
        "missing-header", "operation-mismatch", "unsupported-version", "accepted", "replayed",
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["/lines", "/events"])
@in_loop
async def test_a_view_that_yields_is_admitted_while_the_framework_waits_for_a_disconnect(path):
    app, messages, is_sent = streaming_shop(APIRoute, everything=False), [], asyncio.Event()

    async def receive():
        if is_sent.is_set():
            return await asyncio.Event().wait()
        await asyncio.sleep(0.05)
        is_sent.set()
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message):
        messages.append(message)

    headers = [JSON, ("x-service-intent", sign_call(f"POST {path}", ARGS))]
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "POST",
        "scheme": "http", "path": path, "query_string": b"", "root_path": "", "server": ("testserver", 80),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }  # fmt: skip
    await app(scope, receive, send)
    assert messages[0]["status"] == 200
    assert len(app.state.runs) == 1


@in_loop
async def test_the_route_class_can_be_set_for_a_whole_app():
    app = FastAPI()
    app.router.route_class = IntentRoute

    @app.get("/orders/{number}")
    async def show(number: int, intent: VerifiedIntent):
        return intent.sub

    app.add_middleware(IntentMiddleware, protection=make_protection(), everything=False)
    assert (await exchange(app, "GET", "/orders/x")).status == 403
    header = [("x-service-intent", sign_call("GET /orders/7", {}))]
    assert (await exchange(app, "GET", "/orders/7", header)).json == "user-1"
    assert (await exchange(app, "GET", "/openapi.json")).status == 200


@in_loop
async def test_an_included_router_keeps_its_own_class_so_that_only_everything_protects_it():
    inner, outer = APIRouter(), APIRouter(route_class=IntentRoute)

    @inner.get("/orders")
    async def show():
        return "open"

    outer.include_router(inner)
    for is_everything, status in ((False, 200), (True, 403)):
        app = FastAPI()
        app.router.route_class = IntentRoute
        app.include_router(outer)
        app.add_middleware(IntentMiddleware, protection=make_protection(), everything=is_everything)
        assert (await exchange(app, "GET", "/orders")).status == status


@in_loop
async def test_a_web_socket_that_asks_for_an_intent_never_opens_and_says_why():
    router, messages = APIRouter(route_class=IntentRoute), []

    @router.websocket("/decorated")
    @intent_required
    async def decorated(socket: WebSocket):
        await socket.accept()

    @router.websocket("/dependent")
    async def dependent(socket: WebSocket, intent: VerifiedIntent):
        await socket.accept()

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        messages.append(message)

    app = FastAPI()
    app.include_router(router)
    app.add_middleware(IntentMiddleware, protection=make_protection(), everything=False)
    for path, error in (("/decorated", RuntimeError), ("/dependent", LookupError)):
        scope = {"type": "websocket", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": []}
        with pytest.raises(error, match="WebSocket"):
            await app(scope, receive, send)
    assert messages == []
