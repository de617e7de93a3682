import asyncio
import gzip
import json
from collections import Counter
from itertools import product
from random import Random
from typing import Annotated
from urllib.parse import quote
from uuid import UUID

import pytest
from support.asgi_calls import exchange, in_loop, run_without_asyncio
from support.signed_calls import encode_json, make_protection, sign_call
from support.witness_hub import HUB_AWAY, JSON, Hub, list_types, make_witness, observe_get

from affidavit.contrib.asgi import IntentMiddleware, WitnessMiddleware

pytest.importorskip("starlette", reason="needs Starlette")

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Host, Mount, Route

TYPED = [("content-type", JSON)]


async def order(request):
    return JSONResponse({"books": (await request.json())["books"]}, 201)


async def show(request):
    return JSONResponse({"id": 1, "email": "anna@example.com"})


def threaded(request):
    return JSONResponse({"threaded": True})


async def lines(request):
    return StreamingResponse(iter([b"[", b'{"n":1}', b"]"]), media_type=JSON)


async def packed(request):
    return Response(gzip.compress(b'{"packed":1}', mtime=0), media_type=JSON, headers={"content-encoding": "gzip"})


async def page(request):
    return PlainTextResponse("hello")


async def broken(request):
    raise RuntimeError("on purpose")


async def halfway(request):
    def pieces():
        yield b"["
        raise RuntimeError("on purpose")

    return StreamingResponse(pieces(), media_type=JSON)


async def drained(request):
    await request.body()
    return Response(b"", 201)


async def unread(request):
    return JSONResponse({})


async def file(request):
    return FileResponse(__file__, media_type=JSON)


ROUTES = [
    Route("/orders", order, methods=["POST"]),
    Route("/orders/{order_id:int}", show),
    Route("/orders/{order_id:int}/lines", lines),
    Route("/threaded", threaded),
    Route("/packed", packed),
    Route("/page", page),
    Route("/broken", broken),
    Route("/halfway", halfway),
    Route("/unread", unread, methods=["POST"]),
    Route("/drained", drained, methods=["POST"]),
    Route("/file", file),
    Mount("/v1", routes=[Route("/orders/{order_id:int}", show)]),
    Mount("/tenants/{tenant}", routes=[Route("/orders/{order_id:int}", show)]),
]


def shop(witness, *inner):
    return Starlette(routes=ROUTES, middleware=[Middleware(WitnessMiddleware, witness=witness), *inner])


def flush_entries(witness, hub):
    assert witness.flush()
    return {(entry["method"], entry["path"], entry["status"]): entry for entry in hub.entries}


@in_loop
async def test_a_starlette_app_is_reported_by_its_own_routes():
    app = shop(witness := make_witness(hub := Hub()))
    for number in range(3):
        assert (await exchange(app, "GET", f"/orders/{number}?full=1")).status == 200
    answer = await exchange(app, "POST", "/orders", TYPED, [b'{"books"', b":[1,2]}"])
    assert (answer.status, answer.json) == (201, {"books": [1, 2]})
    await exchange(app, "GET", "/threaded")
    entries = flush_entries(witness, hub)
    fetched, posted = entries["GET", "/orders/{order_id}", 200], entries["POST", "/orders", 201]
    assert (fetched["count"], fetched["parameters"]) == (3, {"order_id": {"type": "integer"}})
    assert fetched["response"]["properties"]["email"]["redacted"]
    assert "full" in fetched["query"]["properties"]
    assert posted["request"]["properties"]["books"]["items"]["seen"] == 2
    assert ("GET", "/threaded", 200) in entries
    assert b"anna" not in hub.bodies[0]


@in_loop
async def test_a_mount_is_part_of_the_route_and_its_parameter_is_reported_by_name():
    app = shop(witness := make_witness(hub := Hub()))
    await exchange(app, "GET", "/v1/orders/17")
    await exchange(app, "GET", "/shop/tenants/acme/orders/17", root_path="/shop")
    await exchange(app, "GET", "/tenants/tenants/orders/18")
    entries = flush_entries(witness, hub)
    assert {path for _, path, _ in entries if "acme" in path or "18" in path} == set()
    assert ("GET", "/v1/orders/{order_id}", 200) in entries
    assert ("GET", "/shop/tenants/{tenant}/orders/{order_id}", 200) in entries


@in_loop
async def test_the_parameter_of_a_mount_is_no_word_of_the_route_if_an_inner_one_has_its_name():
    inner = [Route("/orders/{tenant}", show), Mount("/{tenant}", routes=[Route("/fixed", show)])]
    routes = [
        Mount("/shops/{tenant}", routes=inner),
        Host("{tenant}.example.com", app=Starlette(routes=[Mount("/shops/{shop}", routes=inner)])),
        Mount("/v1", routes=[Route("/orders/{tenant}", show)]),
        Mount("/{tenant}", routes=inner),
    ]
    app = WitnessMiddleware(Starlette(routes=routes), witness := make_witness(hub := Hub()))
    for path in ("/shops/acme/orders/17", "/shops/acme/jane/fixed", "/v1/orders/17"):
        assert (await exchange(app, "GET", path)).status == 200
    assert (await exchange(app, "GET", "/shops/acme/jane/fixed", [("host", "x.example.com")])).status == 200
    assert ("GET", "/v1/orders/{tenant}", 200) in flush_entries(witness, hub)
    assert b"acme" not in b"".join(hub.bodies)
    assert b"jane" not in b"".join(hub.bodies)


@in_loop
async def test_parameters_of_fastapi_have_the_types_of_its_views():
    fastapi = pytest.importorskip("fastapi", reason="needs FastAPI")

    def find_cart(cart: int):
        return cart

    router = fastapi.APIRouter(prefix="/shops/{shop}")

    @router.get("/orders/{pk}/{uid}/{price}/{cart}/{free}")
    async def show(
        pk: Annotated[int, fastapi.Path(gt=0)], uid: UUID, price: float, shop: str,
        cart: Annotated[int, fastapi.Depends(find_cart)],
    ):  # fmt: skip
        return {"pk": pk}

    app = fastapi.FastAPI()
    app.include_router(router, prefix="/v1")
    wrapped = WitnessMiddleware(app, witness := make_witness(hub := Hub()))
    for number in (1, 2):
        path = f"/v1/shops/7/orders/{number}/7f3a9c1e-5b2d-4c6a-8f00-112233445566/1.5/9/{number}"
        assert (await exchange(wrapped, "GET", path)).status == 200
    parameters = flush_entries(witness, hub)[
        "GET", "/v1/shops/{shop}/orders/{pk}/{uid}/{price}/{cart}/{free}", 200
    ]["parameters"]  # fmt: skip
    assert {name: parameter["type"] for name, parameter in parameters.items()} == {
        "shop": "string", "pk": "integer", "uid": "string", "price": "number", "cart": "integer", "free": "integer",
    }  # fmt: skip


@in_loop
async def test_forms_have_the_names_and_kinds_of_their_fields():
    app = shop(witness := make_witness(hub := Hub()))
    form = [("content-type", "application/x-www-form-urlencoded")]
    await exchange(app, "POST", "/drained", form, [b"name=can", b"ary&tags=a&tags=canary"])
    multipart = [("content-type", "multipart/form-data; boundary=x")]
    part = b'Content-Disposition: form-data; name="%s"\r\n\r\ncanary'
    chunks = [b"--x\r\n", part % b"note", b"\r\n--x\r\n", part % b'file"; filename="canary.txt', b"canary" * 99_999]
    await exchange(app, "POST", "/drained", multipart, [*chunks, b"\r\n--x--\r\n"])
    await exchange(app, "POST", "/unread", multipart, chunks)
    assert witness.flush()
    url_encoded, parts, unread = sorted(
        hub.entries, key=lambda entry: (entry["path"], entry.get("requestMediaType", ""))
    )
    assert list_types(url_encoded["request"]) == {"name": "string", "tags": "array of string"}
    assert list_types(parts["request"]) == {"note": "string", "file": "binary string"}
    assert "request" not in unread
    assert "requestMediaType" not in unread
    assert witness.stats.bodies_left_out == {"not seen whole": 1}
    assert b"canary" not in b"".join(hub.bodies)


@in_loop
async def test_media_types_are_kept_for_bodies_that_are_not_read():
    app = shop(witness := make_witness(hub := Hub()))
    await exchange(app, "GET", "/page")
    await exchange(app, "POST", "/drained", [("content-type", "text/CSV; header=canary")], [b"a;b"])
    await exchange(app, "POST", "/drained", [("content-type", "canary")], [b"a;b"])
    await exchange(app, "POST", "/drained", [("content-type", "text/csv")], [b""])
    assert witness.flush()
    media_types = {
        (entry["path"], entry.get("requestMediaType"), entry.get("responseMediaType")) for entry in hub.entries
    }
    assert media_types == {
        ("/page", None, "text/plain"),
        ("/drained", "text/csv", None), ("/drained", "*/*", None), ("/drained", None, None),
    }  # fmt: skip
    assert b"canary" not in hub.bodies[0]


@in_loop
async def test_skipped_requests_keep_the_media_types_of_their_operation():
    app = shop(witness := make_witness(hub := Hub()))
    for _ in range(60):
        await exchange(app, "POST", "/orders", TYPED, [b'{"books":[1]}'])
        witness.flush()
    await exchange(app, "POST", "/orders", TYPED, [b'{"books":[1]}'])
    assert witness.stats.unlooked > 0
    assert sum(entry["count"] for entry in hub.entries) == 60
    assert {entry["requestMediaType"] for entry in hub.entries} == {JSON}


@in_loop
async def test_a_root_path_is_part_of_the_route():
    app = shop(witness := make_witness(hub := Hub()))
    await exchange(app, "GET", "/shop/orders/5", root_path="/shop")
    assert flush_entries(witness, hub).keys() == {("GET", "/shop/orders/{order_id}", 200)}


def name_root(app, find_root):
    """Wrap an app: `root_path` becomes what `find_root` returns for the scope of a request."""

    async def call(scope, receive, send):
        scope["root_path"] = find_root(scope)
        await app(scope, receive, send)

    return call


@in_loop
async def test_what_middleware_takes_from_the_path_is_no_word_of_the_route():
    inner = Starlette(routes=[Route("/orders/{pk}", show), Mount("/v1", routes=[Route("/orders/{pk}", show)])])
    app = name_root(inner, lambda scope: "/" + scope["path"].split("/")[1])
    app = WitnessMiddleware(app, witness := make_witness(hub := Hub()))
    for path in ("/jane-doe/orders/17", "/jane-doe/v1/orders/17"):
        assert (await exchange(app, "GET", path)).status == 200
    witness.flush()
    assert witness.stats.observed == 2
    assert b"jane" not in b"".join(hub.bodies)


@in_loop
async def test_a_prefix_that_a_proxy_names_hides_no_route():
    app = name_root(shop(make_witness()), lambda scope: dict(scope["headers"])[b"x-forwarded-prefix"].decode())
    app = WitnessMiddleware(app, witness := make_witness(hub := Hub()))
    await exchange(app, "GET", "/orders/5", [("x-forwarded-prefix", "/jane-doe")])
    assert flush_entries(witness, hub).keys() == {("GET", "/orders/{order_id}", 200)}


@in_loop
async def test_the_root_path_of_an_app_of_fastapi_is_part_of_the_route():
    fastapi = pytest.importorskip("fastapi", reason="needs FastAPI")
    inner = fastapi.FastAPI()
    inner.add_api_route("/orders/{pk}", lambda pk: {"id": 1})
    app = fastapi.FastAPI()
    app.root_path = "/shop"  # as the deprecated argument sets it
    app.mount("/v1", inner)
    app = WitnessMiddleware(app, witness := make_witness(hub := Hub()))
    assert (await exchange(app, "GET", "/shop/v1/orders/5")).status == 200
    assert flush_entries(witness, hub).keys() == {("GET", "/shop/v1/orders/{pk}", 200)}


@in_loop
async def test_requests_without_a_route_are_not_observed():
    app = shop(witness := make_witness(hub := Hub()))
    assert (await exchange(app, "GET", "/wp-login.php")).status == 404
    assert (await exchange(app, "GET", "/orders/17/")).status == 307
    assert (await exchange(app, "DELETE", "/orders/17")).status == 405
    assert flush_entries(witness, hub).keys() == {("DELETE", "/orders/{order_id}", 405)}
    assert witness.stats.observed == 1


@in_loop
async def test_a_preflight_that_a_middleware_answers_is_not_observed():
    stack = [Middleware(CORSMiddleware, allow_origins=["https://shop.example"])]
    app = Starlette(routes=[Route("/orders/{order_id}", show)], middleware=stack)
    app = WitnessMiddleware(app, witness := make_witness(hub := Hub()))
    origin = ("origin", "https://shop.example")
    preflight = [origin, ("access-control-request-method", "GET")]
    assert (await exchange(app, "OPTIONS", "/orders/17", preflight)).status == 200
    assert (await exchange(app, "GET", "/orders/17", [origin])).status == 200
    assert flush_entries(witness, hub).keys() == {("GET", "/orders/{order_id}", 200)}
    assert witness.stats.observed == 1


def build_app_of_many_kinds():
    """Return an app in which one route has several statuses and types of answers, and two prefixes."""
    fastapi = pytest.importorskip("fastapi", reason="needs FastAPI")
    router, inner = fastapi.APIRouter(), fastapi.FastAPI()

    @router.api_route("/orders/{pk}", methods=["GET", "POST"])
    async def answer(request: fastapi.Request, pk: int, status: int = 200, type: str = JSON):
        await request.body()
        return Response(b'{"id":1}' if type else b"", status, headers={"content-type": type} if type else {})

    app = fastapi.FastAPI()
    for holder, prefix in ((app, "/a"), (app, "/b"), (inner, "/a")):
        holder.include_router(router, prefix=prefix)
    app.mount("/inner", inner)
    return app


@in_loop
async def test_requests_that_are_recognised_at_once_are_counted_where_the_others_are(monkeypatch):
    monkeypatch.setattr("affidavit._witness.sampling.SETTLED", 1)
    monkeypatch.setattr("affidavit.contrib._asgi.witness._MAX_KEYS", 5)
    kinds = list(product(
        ("GET", "POST"), ("", JSON, "text/csv", "text/csv; header=present"), ("/a", "/b", "/inner/a"),
        ((200, JSON), (200, "text/csv"), (200, f"{JSON}; charset=utf-8"), (404, JSON), (204, "")),
    ))  # fmt: skip
    app = WitnessMiddleware(build_app_of_many_kinds(), witness := make_witness(hub := Hub()))
    remembered, expected, chance = 0, Counter(), Random(7)
    for number in range(3000):
        method, sent_kind, prefix, (status, kind) = chance.choice(kinds)
        query = f"status={status}&type={quote(kind)}"
        headers = [("content-type", sent_kind)] if sent_kind else []
        answer = await exchange(
            app, method, f"{prefix}/orders/{number}?{query}", headers, [b"{}" if sent_kind else b""]
        )
        assert answer.status == status
        types = "" if status == 404 else sent_kind.partition(";")[0], kind.partition(";")[0]
        expected[method, f"{prefix}/orders/{{pk}}", status, *types] += 1
        remembered = max(remembered, len(app._keys))
        if number % 100 == 0:
            assert witness.flush()
    assert witness.flush()
    counts = Counter()
    for entry in hub.entries:
        types = entry.get("requestMediaType", ""), entry.get("responseMediaType", "")
        counts[entry["method"], entry["path"], entry["status"], *types] += entry["count"]
    assert counts == expected
    assert remembered == 5
    assert witness.stats.unlooked > 600


@in_loop
async def test_a_malformed_scope_breaks_nothing():
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": "x"})
        await send({"type": "http.response.body", "body": None})

    async def send(message):
        passed.append(message["type"])

    for odd in ({}, {"headers": None}, {"path": 7}, {"headers": [(b"content-type",)]}, {"query_string": None}):
        passed = []
        await WitnessMiddleware(app, make_witness())({"type": "http", **odd}, None, send)
        assert passed == ["http.response.start", "http.response.body"]


@in_loop
async def test_headers_that_can_be_read_only_once_reach_the_client():
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": iter([(b"content-type", JSON.encode())])})
        await send({"type": "http.response.body", "body": b'{"id":1}'})

    witness = make_witness(hub := Hub())
    assert (await exchange(WitnessMiddleware(app, witness), "GET", "/orders/1")).headers == {"content-type": JSON}
    assert list_types(flush_entries(witness, hub)["GET", "/orders/{orderId}", 200]["response"]) == {"id": "integer"}
    call = [("x-service-intent", sign_call("GET /orders/1", {}))]
    for is_kept in (True, False):
        protected = IntentMiddleware(app, make_protection(max_kept=10_000 if is_kept else 1))
        assert (await exchange(protected, "GET", "/orders/1", call)).headers == {"content-type": JSON}


@in_loop
async def test_every_message_passes_unchanged_and_without_delay():
    arguments, passed = [], []

    async def app(scope, receive, send):
        for message in (
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]},
            *({"type": "http.response.body", "body": b"[" * 1000, "more_body": True} for _ in range(50)),
            {"type": "http.response.body"},
        ):
            arguments.append(message)
            await send(message)
            assert passed[-1] is message

    async def send(message):
        passed.append(message)

    witness = make_witness(hub := Hub(), max_body=5000)
    scope = {"type": "http", "method": "GET", "path": "/orders/1", "headers": [], "query_string": b""}
    await WitnessMiddleware(app, witness)(scope, None, send)
    assert passed == arguments
    witness.flush()
    assert witness.stats.bodies_left_out == {"too large": 1}
    assert len(hub.entries) == 1


@in_loop
async def test_streams_files_and_compressed_responses_pass_unchanged():
    app = shop(witness := make_witness(hub := Hub()))
    assert (await exchange(app, "GET", "/orders/5/lines")).json == [{"n": 1}]
    assert (await exchange(app, "GET", "/packed")).body == gzip.compress(b'{"packed":1}', mtime=0)
    assert (await exchange(app, "GET", "/page")).body == b"hello"
    with open(__file__, "rb") as source:
        assert (await exchange(app, "GET", "/file")).body == source.read()
    entries = flush_entries(witness, hub)
    assert entries["GET", "/orders/{order_id}/lines", 200]["response"]["items"]["properties"].keys() == {"n"}
    assert "packed" in entries["GET", "/packed", 200]["response"]["properties"]
    assert "response" not in entries["GET", "/page", 200]
    assert witness.stats.bodies_left_out == {"not JSON by their type": 1, "not valid JSON": 1}


@in_loop
async def test_an_exception_reaches_the_host_and_is_reported_as_a_status_only():
    app = shop(witness := make_witness(hub := Hub()))
    for path in ("/broken", "/halfway"):
        with pytest.raises(RuntimeError, match="on purpose"):
            await exchange(app, "GET", path)
    entries = flush_entries(witness, hub)
    assert entries.keys() == {("GET", "/broken", 500), ("GET", "/halfway", 200)}
    assert not any("response" in entry for entry in entries.values())


@in_loop
async def test_a_body_that_the_app_does_not_read_is_not_read_for_it():
    witness = make_witness(hub := Hub())

    async def send(message):
        pass

    async def receive():
        raise AssertionError("nobody asked")

    scope = {
        "type": "http", "method": "POST", "path": "/unread", "headers": [(b"content-type", b"application/json")],
        "query_string": b"", "root_path": "", "http_version": "1.1", "server": None, "scheme": "http",
    }  # fmt: skip
    await shop(witness)(scope, receive, send)
    assert "request" not in flush_entries(witness, hub)["POST", "/unread", 200]


@in_loop
async def test_around_other_middleware_the_route_is_known_too():
    class Outer(BaseHTTPMiddleware):
        async def dispatch(self, request, call_next):
            return await call_next(request)

    app = shop(witness := make_witness(hub := Hub()), Middleware(Outer), Middleware(GZipMiddleware, minimum_size=1))
    answer = await exchange(app, "GET", "/orders/5", [("accept-encoding", "gzip")])
    assert json.loads(gzip.decompress(answer.body))["id"] == 1
    assert "id" in flush_entries(witness, hub)["GET", "/orders/{order_id}", 200]["response"]["properties"]


@in_loop
async def test_witness_and_signed_intents_work_together():
    app = shop(witness := make_witness(hub := Hub()), Middleware(IntentMiddleware, protection=make_protection()))
    header = sign_call("POST /orders", {"books": [1]})
    answer = await exchange(
        app, "POST", "/orders", [*TYPED, ("x-service-intent", header)], [encode_json({"books": [1]})]
    )
    assert answer.status == 201
    assert (await exchange(app, "POST", "/orders", TYPED, [b"{}"])).status == 403
    entries = flush_entries(witness, hub)
    assert "books" in entries["POST", "/orders", 201]["request"]["properties"]
    assert "reason" in entries["POST", "/orders", 403]["response"]["properties"]
    assert header.encode() not in hub.bodies[0]


@in_loop
async def test_a_caller_that_disconnects_leaves_no_partial_shape():
    started = asyncio.Event()

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b'{"a":', "more_body": True})
        started.set()
        await asyncio.sleep(30)

    async def send(message):
        pass

    witness = make_witness(hub := Hub())
    scope = {"type": "http", "method": "GET", "path": "/orders/1", "headers": [], "query_string": b""}
    task = asyncio.create_task(WitnessMiddleware(app, witness)(scope, None, send))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "response" not in flush_entries(witness, hub)["GET", "/orders/{orderId}", 200]


@in_loop
async def test_other_scopes_pass_untouched():
    passed = []

    async def app(*arguments):
        passed.append(arguments)

    scope, receive, send = {"type": "websocket"}, object(), object()
    await WitnessMiddleware(app, make_witness())(scope, receive, send)
    assert passed == [(scope, receive, send)]


@pytest.mark.parametrize("run", [asyncio.run, run_without_asyncio])
def test_the_lifespan_ends_only_after_all_reports_are_sent(run):
    witness = make_witness(hub := Hub())
    observe_get(witness, "/a", route="/a")
    bodies_at = {}

    async def app(scope, receive, send):
        for state in ("startup", "shutdown"):
            assert (await receive())["type"] == f"lifespan.{state}"
            await send({"type": f"lifespan.{state}.complete"})

    messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def receive():
        return next(messages)

    async def send(message):
        bodies_at[message["type"]] = len(hub.bodies)

    run(WitnessMiddleware(app, witness)({"type": "lifespan"}, receive, send))
    assert bodies_at == {"lifespan.startup.complete": 0, "lifespan.shutdown.complete": 1}


@in_loop
async def test_no_header_value_and_no_raw_path_is_reported():
    app = shop(witness := make_witness(hub := Hub()))
    headers = [("authorization", "canary"), ("cookie", "s=canary"), ("content-type", "application/json; x=canary")]
    await exchange(app, "POST", "/orders?canary%40example.com=1", headers, [b'{"books":["canary"]}'])
    await exchange(app, "GET", "/canary/17")
    assert flush_entries(witness, hub).keys() == {("POST", "/orders", 201)}
    assert b"canary" not in hub.bodies[0]


@pytest.mark.parametrize("fault", [HUB_AWAY, RuntimeError("on purpose")])
@in_loop
async def test_with_an_unreachable_hub_the_host_answers_as_without_a_witness(fault):
    app = shop(witness := make_witness(Hub(rules_fault=fault)))
    for number in range(50):
        assert (await exchange(app, "GET", f"/orders/{number}")).json["id"] == 1
    witness.flush()
    assert witness.stats.waiting == 50


@in_loop
async def test_routes_of_litestar_are_templates_and_paths_without_one_are_not_observed():
    async def litestar(scope, receive, send):
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        scope["litestar_app"], template = litestar, {"/users/jane": "/users/{name}", "/a/b": ""}.get(path)
        if template is not None:
            scope["path_template"] = template  # Litestar leaves this empty for a mounted ASGI app
        await JSONResponse({"id": 1}, 200 if template else 404)(scope, receive, send)

    mounts = Starlette(routes=[Mount("/v1", app=litestar), Mount("/shops/{shop}", app=litestar)])
    app = WitnessMiddleware(litestar, witness := make_witness(hub := Hub()))
    mounted_app = WitnessMiddleware(mounts, witness)
    for path in ("/users/jane", "/none/jane", "/a/b"):
        await exchange(app, "GET", path)
    for path in ("/v1/users/jane", "/shops/acme/users/jane"):
        assert (await exchange(mounted_app, "GET", path)).status == 200
    assert flush_entries(witness, hub).keys() == {("GET", "/users/{name}", 200), ("GET", "/v1/users/{name}", 200)}
