"""Calls to a protected ASGI app: calls that pass or are refused, and results that are reported."""

import asyncio
import threading
import time
from contextlib import suppress

import pytest
from support.asgi_calls import exchange, in_loop, run_without_asyncio
from support.signed_calls import RecordedReports, encode_json, make_protection, sign_bytes, sign_call, sign_v1_call

from affidavit import Protection
from affidavit.contrib.asgi import IntentMiddleware, current_intent, intent_required

pytest.importorskip("starlette", reason="needs Starlette")

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Mount, Route

ARGS = {"isbn": "978", "qty": 2}
JSON = ("content-type", "application/json")


async def order(request):
    request.app.state.runs.append(current_intent().args)
    return JSONResponse({"sub": current_intent().sub, "body": await request.json()}, 201, {"set-cookie": "s=1"})


async def show(request):
    return JSONResponse({"id": request.path_params["order_id"], "args": current_intent().args})


@intent_required(minimum_version=2)
async def refund(request):
    request.app.state.runs.append("refund")
    return JSONResponse({"refunded": await request.json()})


@intent_required(operation="orders.cancel")
def cancel(request):
    request.app.state.runs.append(threading.current_thread() is threading.main_thread())
    return JSONResponse(current_intent().args)


async def health(request):
    return JSONResponse({"ok": True})


@intent_required
async def after_reading(request):
    return JSONResponse(current_intent().args)


async def reads_first(request):
    await request.body()
    return await after_reading(request)


ROUTES = [
    Route("/orders", order, methods=["POST"]),
    Route("/orders/{order_id:int}", show),
    Route("/refunds", refund, methods=["POST"]),
    Route("/rpc", cancel, methods=["POST"]),
    Route("/after-reading", reads_first, methods=["POST"]),
    Route("/health", health),
    Mount("/v1", routes=[Route("/orders/{order_id:int}", show)]),
]


def shop(guard, *, everything=True, outermost=False, inner=(), instead=None):
    """Return a Starlette app. It is protected, unless `outermost` says that the test protects it.

    instead: the view at POST /orders.
    """
    guarded = [] if outermost else [Middleware(IntentMiddleware, protection=guard, everything=everything)]
    routes = [Route("/orders", instead, methods=["POST"]), *ROUTES] if instead else ROUTES
    app = Starlette(routes=routes, middleware=[*guarded, *inner])
    app.state.runs = []
    return app


async def post(app, path, header, value=ARGS, headers=(), **options):
    sent_headers = [JSON, *headers, *([("x-service-intent", header)] if header else [])]
    return await exchange(app, "POST", path, sent_headers, [encode_json(value)], **options)


@in_loop
async def test_a_signed_call_reaches_the_view_with_intent_arguments_and_body():
    app = shop(make_protection())
    answer = await post(app, "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status, answer.json) == (201, {"sub": "user-1", "body": ARGS})
    assert app.state.runs == [ARGS]


@in_loop
async def test_a_body_in_pieces_is_verified_whole_and_read_whole():
    app = shop(make_protection())
    body = encode_json(ARGS)
    headers = [JSON, ("x-service-intent", sign_call("POST /orders", ARGS))]
    answer = await exchange(app, "POST", "/orders", headers, [body[:3], b"", body[3:]])
    assert answer.json["body"] == ARGS


@in_loop
async def test_a_framework_that_reads_the_body_beside_its_view_gets_the_pieces_in_order():
    body, sent = encode_json(ARGS), []

    @intent_required
    async def view():
        return current_intent().args

    async def app(scope, receive, send):  # as Quart does
        async def collect():
            pieces = []
            while not pieces or pieces[-1]["more_body"]:
                pieces.append(await receive())
            return b"".join(piece["body"] for piece in pieces)

        collecting = asyncio.create_task(collect())
        await asyncio.sleep(0)
        sent.append((await view(), await collecting))

    chunks = [
        {"type": "http.request", "body": body[n : n + 1], "more_body": n + 1 < len(body)} for n in range(len(body))
    ]

    async def receive():
        await asyncio.sleep(0.001)
        return chunks.pop(0) if chunks else await asyncio.Event().wait()

    headers = [(b"content-type", b"application/json"), (b"x-service-intent", sign_call("POST /x", ARGS).encode())]
    scope = {"type": "http", "method": "POST", "path": "/x", "headers": headers}
    await IntentMiddleware(app, make_protection(), everything=False)(scope, receive, None)
    assert sent == [(ARGS, body)]


@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize("charset", [
    "charset=utf-7", 'Charset="UTF-7"', "charset*=utf-8''utf-7", "charset=unicode_escape", "charset=latin-1",
])  # fmt: skip
@in_loop
async def test_a_form_with_files_is_read_as_the_utf_8_that_was_verified(charset, everything):
    pytest.importorskip("python_multipart", reason="Starlette reads forms with it")

    @intent_required
    async def read_form(request):
        return JSONResponse(dict(await request.form()))

    text = "+ADw-b+AD4- \\u003cb\\u003e" + ("é" if "latin" in charset else "")
    body = f'--b\r\nContent-Disposition: form-data; name="note"\r\n\r\n{text}\r\n--b--\r\n'.encode()
    headers = [
        ("content-type", f"multipart/form-data; {charset}; boundary=b"),
        ("x-service-intent", sign_bytes("POST /orders", body)),
    ]
    answer = await exchange(
        shop(make_protection(), everything=everything, instead=read_form), "POST", "/orders", headers, [body]
    )
    assert (answer.status, answer.json) == (200, {"note": text})


@in_loop
async def test_signed_json_is_not_read_as_a_form_by_the_first_of_two_content_types():
    args = {"note": "a&amount=9999&b"}
    body = encode_json(args).replace(b" ", b"")
    headers = [
        ("content-type", "application/x-www-form-urlencoded"), ("content-type", "application/json"),
        ("x-service-intent", sign_call("POST /orders", args)),
    ]  # fmt: skip
    answer = await exchange(shop(make_protection()), "POST", "/orders", headers, [body])
    assert (answer.status, answer.json["reason"]) == (403, "args-mismatch")


@pytest.mark.parametrize(("header", "reason"), [  # fresh when it is sent: an intent lasts five minutes
    (lambda: None, "missing-header"),
    (lambda: sign_call("POST /orders", {}), "args-mismatch"),
    (lambda: sign_call("POST /other", ARGS), "operation-mismatch"),
])  # fmt: skip
@in_loop
async def test_a_rejection_is_a_problem_document_with_its_reason(header, reason):
    app = shop(make_protection())
    answer = await post(app, "/orders", header())
    assert (answer.status, answer.headers["content-type"]) == (403, "application/problem+json")
    assert (answer.json["code"], answer.json["reason"]) == ("intent-rejected", reason)
    assert app.state.runs == []


@in_loop
async def test_a_refusal_has_one_length_if_middleware_around_the_protection_compresses_it():
    lengths = []

    async def record(scope, receive, send):
        async def note_lengths(message):
            headers = message.get("headers", ())
            lengths.extend(int(value) for name, value in headers if name.lower() == b"content-length")
            await send(message)

        await GZipMiddleware(shop(make_protection()), minimum_size=1)(scope, receive, note_lengths)

    answer = await post(record, "/orders", None, headers=[("accept-encoding", "gzip")])
    assert (answer.status, answer.headers["content-encoding"], lengths) == (403, "gzip", [len(answer.body)])


@in_loop
@pytest.mark.parametrize("everything", [True, False])
async def test_a_mounted_app_that_is_protected_too_verifies_a_call_once(everything):
    guard = make_protection(reports=(reports := RecordedReports()))
    inside = shop(guard, everything=everything)
    app = Starlette(routes=[Mount("/shop", inside)], middleware=[Middleware(IntentMiddleware, protection=guard)])
    for path, text in (("/orders", "sub"), ("/refunds", "refunded")):
        calls = [post(app, f"/shop{path}", sign_call(f"POST /shop{path}", ARGS, tool_call_id=path)) for _ in range(2)]
        first, second = [await call for call in calls]
        assert text in first.json
        assert (second.json, second.headers["idempotent-replayed"]) == (first.json, "true")
    assert inside.state.runs == [ARGS, "refund"]
    assert [result for result, *_ in reports.operations] == ["accepted"] * 4


@in_loop
@pytest.mark.parametrize(
    "changes", [{"path": "/refunds"}, {"method": "PUT"}, {"query_string": b"a=1"}, {"headers": []}], ids=str
)
async def test_a_call_that_a_view_makes_with_its_own_scope_is_verified(changes):
    guard = make_protection()
    runs, statuses = [], []

    async def inner(scope, receive, send):
        runs.append(scope["path"])

    async def outer(scope, receive, send):
        async def note(message):
            statuses.append(message.get("status"))

        await IntentMiddleware(inner, guard)({**scope, **changes}, receive, note)
        await JSONResponse({})(scope, receive, send)

    answer = await post(IntentMiddleware(outer, guard), "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status, runs, statuses[0]) == (200, [], 403)


@in_loop
async def test_two_intent_headers_are_malformed():
    header = sign_call("POST /orders", ARGS)
    answer = await post(shop(make_protection()), "/orders", header, headers=[("x-service-intent", header)])
    assert answer.json["reason"] == "malformed"


@in_loop
async def test_a_body_over_the_limit_is_413():
    app = shop(make_protection(max_body=10))
    answer = await post(app, "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status, answer.json["code"]) == (413, "body-too-large")
    assert app.state.runs == []


@pytest.mark.parametrize("everything", [True, False])
@in_loop
async def test_a_body_that_breaks_off_says_nothing_about_the_intent(everything):
    app = shop(make_protection(reports=(reports := RecordedReports())), everything=everything)
    for chunks in ([encode_json(ARGS)[:9], None], [None]):
        headers = [JSON, ("x-service-intent", sign_call("POST /refunds", ARGS))]
        answer = await exchange(app, "POST", "/refunds", headers, chunks)
        assert (answer.status, answer.json["code"]) == (400, "body-incomplete")
    assert (reports.verifications, app.state.runs) == ([], [])


@in_loop
async def test_the_limit_of_a_body_may_depend_on_method_and_path():
    app = shop(make_protection(max_body=lambda method, path: 10 if (method, path) == ("POST", "/orders") else 100))
    answer = await post(app, "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status, answer.json["code"]) == (413, "body-too-large")
    assert (await post(app, "/refunds", sign_call("POST /refunds", ARGS))).status == 200


@in_loop
async def test_an_unprotected_view_may_get_a_body_of_any_size():
    async def reading(request):
        return JSONResponse(len(await request.body()))

    app = shop(make_protection(max_body=10, exempt=lambda method, path: True), instead=reading)
    assert (await exchange(app, "POST", "/orders", [], [b"x" * 8] * 5)).json == 40


@pytest.mark.parametrize("everything", [True, False])
@in_loop
async def test_a_route_may_demand_version_two(everything):
    reports = RecordedReports()
    app = shop(make_protection(reports=reports), everything=everything)
    answer = await post(app, "/refunds", sign_v1_call("POST", "/refunds", now=time.time()))
    assert (answer.status, answer.json["reason"]) == (403, "unsupported-version")
    assert (await post(app, "/refunds", sign_call("POST /refunds", ARGS))).json == {"refunded": ARGS}
    assert app.state.runs == ["refund"]
    assert [result for result, _ in reports.verifications] == ["unsupported-version", "accepted"]


@pytest.mark.parametrize("outermost", [False, True])
@in_loop
async def test_a_refused_view_answers_403_wherever_the_middleware_is(outermost):
    app = shop(guard := make_protection(), everything=False, outermost=outermost)
    served = IntentMiddleware(app, guard, everything=False) if outermost else app
    answer = await post(served, "/refunds", None)
    assert (answer.status, answer.json["reason"]) == (403, "missing-header")


@in_loop
async def test_a_refused_view_is_answered_before_its_framework_ends():
    """Quart 0.23 goes on receiving until the client, who has the answer then, is gone."""

    async def framework(scope, receive, send):
        with suppress(Exception):
            await refund(None)
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        while (await receive())["type"] != "http.disconnect":
            pass

    guarded = IntentMiddleware(framework, make_protection(), everything=False)
    response = await asyncio.wait_for(exchange(guarded, "POST", "/refunds"), 5)
    assert (response.status, response.json["reason"]) == (403, "missing-header")


@in_loop
async def test_a_sync_view_of_another_transport_declares_its_operation_and_runs_in_a_thread():
    """A transport other than REST, such as RPC, names its operations itself (contract §3)."""
    app = shop(make_protection(reports=(reports := RecordedReports())), everything=False)
    answer = await post(app, "/rpc", sign_call("orders.cancel", ARGS))
    assert (answer.status, answer.json) == (200, ARGS)
    assert app.state.runs == [False]
    assert (await post(app, "/rpc", sign_call("POST /rpc", ARGS))).json["reason"] == "operation-mismatch"
    assert reports.operations == [("accepted", "orders.cancel"), ("operation-mismatch", "orders.cancel")]


@in_loop
async def test_a_view_is_verified_even_if_other_code_has_read_the_body():
    app = shop(make_protection(), everything=False)
    answer = await post(app, "/after-reading", sign_call("POST /after-reading", ARGS))
    assert (answer.status, answer.json) == (200, ARGS)


@in_loop
async def test_inner_middleware_does_not_change_the_protection():
    class Stamp(BaseHTTPMiddleware):
        async def dispatch(self, request, call_next):
            response = await call_next(request)
            response.headers["x-stamp"] = "1"
            return response

    app = shop(make_protection(), everything=False, inner=[Middleware(Stamp)])
    assert (await post(app, "/refunds", None)).status == 403
    answers = [await post(app, "/refunds", sign_call("POST /refunds", ARGS, tool_call_id="c")) for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 200]
    assert answers[1].headers["x-stamp"] == "1"
    assert app.state.runs == ["refund"]


class Passed(BaseHTTPMiddleware):
    async def dispatch(self, request, call_next):
        return await call_next(request)


@in_loop
@pytest.mark.parametrize(
    ("inner", "status"), [((GZipMiddleware, Passed), 409), ((Passed, GZipMiddleware), 200)], ids=str
)
async def test_a_response_that_middleware_makes_a_stream_is_not_kept(inner, status):
    """As docs/sdk.md says."""

    async def view(request):
        return JSONResponse("x" * 1000)

    app = shop(make_protection(), inner=[Middleware(kind) for kind in inner], instead=view)
    headers = [("accept-encoding", "gzip")]
    for expected in (200, status):
        header = sign_call("POST /orders", ARGS, tool_call_id="c")
        assert (await post(app, "/orders", header, headers=headers)).status == expected


@in_loop
async def test_reports_name_the_route_of_accepted_and_of_refused_calls():
    app = shop(make_protection(reports=(reports := RecordedReports())))
    for path in ("/orders/17", "/v1/orders/17"):
        assert (await exchange(app, "GET", path, [("x-service-intent", sign_call(f"GET {path}", {}))])).status == 200
    assert (await exchange(app, "GET", "/orders/17")).status == 403
    assert reports.operations == [
        ("accepted", "GET /orders/{order_id}"),
        ("accepted", "GET /v1/orders/{order_id}"),
        ("missing-header", "GET /orders/{order_id}"),  # though it was rejected before the app's router ran
    ]


@pytest.mark.parametrize("path", ["/shop/orders/5", "/orders/5"])
@in_loop
async def test_the_mount_prefix_is_part_of_the_operation_whether_the_server_adds_it_or_not(path):
    app = shop(make_protection())
    header = [("x-service-intent", sign_call("GET /shop/orders/5", {}))]
    assert (await exchange(app, "GET", path, header, root_path="/shop")).status == 200


@pytest.mark.parametrize(("path", "raw_path"), [
    ("/orders/5", b"/orders%2f5"), ("/orders/%zz", b"/orders/%zz"), ("/orders/\ufffd", b"/orders/%ff"),
])  # fmt: skip
@in_loop
async def test_a_raw_path_that_servers_read_differently_is_refused(path, raw_path):
    header = [("x-service-intent", sign_call(f"GET {path}", {}))]
    answer = await exchange(shop(make_protection()), "GET", path, header, raw_path=raw_path)
    assert answer.json["reason"] == "operation-mismatch"


@pytest.mark.parametrize("encodings", [["gzip"], ["identity", "gzip"]])
@in_loop
async def test_an_encoded_body_is_refused(encodings):
    app = shop(make_protection())
    headers = [("content-encoding", encoding) for encoding in encodings]
    answer = await post(app, "/orders", sign_call("POST /orders", ARGS), headers=headers)
    assert (answer.json["reason"], app.state.runs) == ("args-mismatch", [])
    assert "Content-Encoding" in answer.json["detail"]


@pytest.mark.parametrize(("media_types", "status"), [
    (["application/+json"], 201), (["application/json", "application/json"], 403), (["application/json\xa0"], 403),
])  # fmt: skip
@in_loop
async def test_media_types_are_json_by_the_contract(media_types, status):
    """Contract §3 says which media types are JSON. The intent signs JSON, so it is rejected with any other type."""
    header = [("x-service-intent", sign_call("POST /orders", ARGS))]
    types = [("content-type", media_type) for media_type in media_types]
    answer = await exchange(shop(make_protection()), "POST", "/orders", [*types, *header], [encode_json(ARGS)])
    assert answer.status == status


@in_loop
async def test_an_exempt_request_needs_no_intent():
    app = shop(make_protection(exempt=lambda method, path: path == "/health"))
    assert (await exchange(app, "GET", "/health")).json == {"ok": True}
    assert (await exchange(app, "GET", "/orders/1")).status == 403


def test_an_async_exemption_is_refused_since_its_coroutine_would_exempt_everything():
    async def exempt(method, path):
        return False

    with pytest.raises(ValueError, match="exempt: this function is async"):
        make_protection(exempt=exempt)


@pytest.mark.parametrize("everything", [True, False])
def test_without_the_event_loop_of_asyncio_nothing_runs_and_the_error_says_why(everything):
    app = shop(make_protection(), everything=everything)
    with pytest.raises(RuntimeError, match="needs the event loop of asyncio"):
        run_without_asyncio(post(app, "/orders", sign_call("POST /orders", ARGS)))


@in_loop
async def test_web_sockets_are_closed_unless_exempt():
    opened, messages = [], []

    async def app(scope, receive, send):
        opened.append(scope["type"])

    async def send(message):
        messages.append(message)

    scope = {"type": "websocket", "path": "/ws", "headers": []}
    await IntentMiddleware(app, make_protection())(scope, None, send)
    assert (opened, messages) == ([], [{"type": "websocket.close", "code": 1008}])
    await IntentMiddleware(app, make_protection(exempt=lambda *_: True))(scope, None, send)
    await IntentMiddleware(app, make_protection())({"type": "lifespan"}, None, send)
    assert opened == ["websocket", "lifespan"]


@in_loop
async def test_a_stream_is_passed_on_chunk_by_chunk_and_not_kept():
    order = []

    async def stream(request):
        async def parts():
            for number in b"12":
                order.append(number)
                yield b"%c" % number

        return StreamingResponse(parts(), media_type="application/x-ndjson")

    app = shop(guard := make_protection(), instead=stream)

    async def noting(scope, receive, send):
        async def note(message):
            order.append(message.get("body", message["type"]))
            await send(message)

        await app(scope, receive, note)

    header = sign_call("POST /orders", ARGS, tool_call_id="c")
    assert (await post(noting, "/orders", header)).body == b"12"
    assert order == [*b"1", "http.response.start", b"1", *b"2", b"2", b""]
    header = sign_call("POST /orders", ARGS, tool_call_id="c")
    answer = await post(app, "/orders", header)
    assert (answer.status, answer.json["code"]) == (409, "response-not-kept")
    assert guard.is_in_memory


@in_loop
@pytest.mark.parametrize("keeps", [True, False])
async def test_a_response_is_buffered_only_if_it_is_kept(keeps):
    order, reports = [], RecordedReports()

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        for number in range(2):
            order.append(number)
            await send({"type": "http.response.body", "body": b"x", "more_body": number == 0})

    async def noting(scope, receive, send):
        async def note(message):
            order.append(message["type"].rpartition(".")[2])
            await send(message)

        await IntentMiddleware(app, guard)(scope, receive, note)

    guard = make_protection(reports=reports)
    if not keeps:
        guard = Protection(guard.verifier, None, reports=reports)
    assert (await post(noting, "/orders", sign_call("POST /orders", ARGS))).body == b"xx"
    assert order == ([0, 1, "start", "body", "body"] if keeps else ["start", 0, "body", 1, "body"])
    assert [result for result, _ in reports.verifications] == ["accepted"]


@in_loop
async def test_an_event_stream_is_passed_on_event_by_event():
    order = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        for number in range(2):
            order.append(number)
            await send({"type": "http.response.body", "body": b"data", "more_body": True})
        await send({"type": "http.response.body"})

    async def send(message):
        order.append(message["type"].rpartition(".")[2])

    async def receive():
        return {"type": "http.request"}

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/x",
        "headers": [(b"x-service-intent", sign_call("GET /x", {}).encode())],
    }
    await IntentMiddleware(app, make_protection())(scope, receive, send)
    assert order == ["start", 0, "body", 1, "body", "body"]


@in_loop
async def test_a_decorated_view_without_the_middleware_never_runs():
    app = Starlette(routes=ROUTES)
    app.state.runs = []
    with pytest.raises(RuntimeError, match="IntentMiddleware"):
        await post(app, "/refunds", sign_call("POST /refunds", ARGS))
    assert app.state.runs == []


def test_outside_a_protected_request_there_is_no_intent():
    with pytest.raises(LookupError):
        current_intent()


@pytest.mark.parametrize("everything", [False, True])
@in_loop
async def test_a_def_view_on_the_event_loop_is_an_error_with_advice_and_does_not_block(everything):
    @intent_required
    def view():
        raise AssertionError("it ran")

    async def app(scope, receive, send):
        view()

    served = IntentMiddleware(app, make_protection(), everything=everything)
    headers = [JSON, ("x-service-intent", sign_call("POST /orders", ARGS))]
    with pytest.raises(RuntimeError, match="Make it `async def`, or have the framework run it in a thread"):
        await exchange(served, "POST", "/orders", headers, [encode_json(ARGS)])
