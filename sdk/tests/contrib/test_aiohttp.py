"""Calls to a protected and witnessed server of aiohttp, over its own client and sockets."""

import asyncio
import functools
import gzip
import inspect
import time

import pytest
from support.paused_deliveries import PausedDeliveries
from support.signed_calls import (
    RecordedReports,
    UnreachableStore,
    encode_json,
    make_protection,
    sign_bytes,
    sign_call,
    sign_v1_call,
)
from support.witness_hub import Hub, list_types, make_witness

pytest.importorskip("aiohttp", reason="needs aiohttp")

from aiohttp import ClientError, FormData, web
from aiohttp.test_utils import TestClient, TestServer

from affidavit import MemoryDeliveries, SqliteDeliveries
from affidavit.contrib.aiohttp import current_intent, intent_middleware, intent_required, witness_middleware

ARGS = {"isbn": "978", "qty": 2}
JSON = {"Content-Type": "application/json"}
RUNS = web.AppKey("runs", list)


async def order(request):
    request.app[RUNS].append("order")
    return web.json_response({"sub": current_intent().sub, "body": await request.json()}, status=201)


async def show(request):
    return web.json_response({"id": int(request.match_info["order_id"]), "args": current_intent().args})


@intent_required(minimum_version=2)
async def refund(request):
    request.app[RUNS].append("refund")
    return web.json_response(current_intent().args)


@intent_required(operation="orders.cancel")
async def cancel(request):
    return web.json_response(current_intent().args)


class Cart(web.View):
    @intent_required
    async def post(self):
        return web.json_response(current_intent().args)


async def broken(request):
    request.app[RUNS].append("broken")
    if len(request.app[RUNS]) == 1:
        raise RuntimeError("on purpose")
    raise web.HTTPConflict(text="there is one", headers={"X-Run": "2"})


async def streamed(request):
    request.app[RUNS].append("streamed")
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"a")
    return response


async def upload(request):
    form = await request.post()
    return web.json_response({"name": form["name"], "file": form["file"].file.read().decode()})


async def size(request):
    return web.json_response(len(await request.read()))


async def health(request):
    return web.json_response({"ok": True})


def shop(*middlewares, **options):
    app = web.Application(middlewares=middlewares, **options)
    app[RUNS] = []
    app.router.add_post("/orders", order)
    app.router.add_get(r"/orders/{order_id:\d+}", show)
    app.router.add_view("/cart", Cart)
    for handler in (refund, cancel, broken, streamed, upload, size):
        app.router.add_post(f"/{handler.__name__}", handler)
    app.router.add_get("/health", health)
    return app


def serving(test):
    """Run an async test in a loop of its own. The test gets a function that serves an app and returns a client."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        async def run_with_client():
            clients = []

            async def serve(app):
                clients.append(TestClient(TestServer(app)))
                await clients[-1].start_server()
                return clients[-1]

            try:
                await asyncio.wait_for(test(serve, *args, **kwargs), 30)
            finally:
                for client in clients:
                    await client.close()

        asyncio.run(run_with_client())

    signature = inspect.signature(test)
    parameters = [parameter for name, parameter in signature.parameters.items() if name != "serve"]
    run.__signature__ = signature.replace(parameters=parameters)  # otherwise pytest would look for a fixture `serve`
    return run


async def post(client, path, header, body=ARGS, headers=(), **options):
    signed = {"X-Service-Intent": header} if header else {}
    data = {"data": encode_json(body), "headers": {"Content-Type": "application/json", **signed, **dict(headers)}}
    return await client.post(path, **{**data, **options})


@serving
async def test_a_signed_call_reaches_the_handler_with_intent_arguments_and_body(serve):
    client = await serve(shop(intent_middleware(make_protection())))
    answer = await post(client, "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status, await answer.json()) == (201, {"sub": "user-1", "body": ARGS})
    answer = await client.get(
        "/orders/17?full=1", headers={"X-Service-Intent": sign_call("GET /orders/17", {"full": "1"})}
    )
    assert await answer.json() == {"id": 17, "args": {"full": "1"}}


@serving
@pytest.mark.parametrize("charset", ["utf-7", '"UTF-7"', "unicode_escape"])
async def test_a_handler_reads_the_texts_that_were_verified_whatever_charset_is_named(serve, charset):
    client = await serve(shop(intent_middleware(make_protection())))
    body = {"isbn": "978+ACI-,+ACI-qty+ACI-:+ACI-9", "note": 'a","qty":"9'}
    headers = {"Content-Type": f"application/json; charset={charset}"}
    answer = await post(client, "/orders", sign_call("POST /orders", body), body, headers)
    assert (answer.status, (await answer.json())["body"]) == (201, body)


@serving
@pytest.mark.parametrize("everything", [True, False])
async def test_an_app_inside_another_that_is_protected_too_verifies_a_call_once(serve, everything):
    guard = make_protection(reports=(reports := RecordedReports()))
    inside = shop(intent_middleware(guard, everything=everything))
    app = web.Application(middlewares=[intent_middleware(guard)])
    app.add_subapp("/shop", inside)
    client = await serve(app)
    for path, status in (("/orders", 201), ("/refund", 200)):
        for is_retry in (False, True):
            header = sign_call(f"POST /shop{path}", ARGS, tool_call_id=path)
            answer = await post(client, f"/shop{path}", header)
            assert (answer.status, "Idempotent-Replayed" in answer.headers) == (status, is_retry)
    assert inside[RUNS] == ["order", "refund"]
    assert [result for result, *_ in reports.operations] == ["accepted"] * 4


@serving
async def test_nothing_runs_before_the_intent_is_verified(serve):
    app = shop(intent_middleware(make_protection()))
    client = await serve(app)
    for header, reason in [(None, "missing-header"), (sign_call("POST /orders", {}), "args-mismatch"),
                           (sign_call("POST /other", ARGS), "operation-mismatch")]:  # fmt: skip
        answer = await post(client, "/orders", header)
        assert (answer.status, answer.content_type) == (403, "application/problem+json")
        assert (await answer.json())["reason"] == reason
    assert app[RUNS] == []


@serving
async def test_without_everything_only_decorated_handlers_are_protected(serve):
    client = await serve(shop(intent_middleware(make_protection(), everything=False)))
    assert (await client.get("/health")).status == 200
    for path in ("/refund", "/cart"):
        assert (await post(client, path, None)).status == 403
        answer = await post(client, path, sign_call(f"POST {path}", ARGS))
        assert (answer.status, await answer.json()) == (200, ARGS)
    answer = await post(client, "/cancel", sign_call("orders.cancel", ARGS))
    assert await answer.json() == ARGS


@pytest.mark.parametrize("everything", [True, False])
@serving
async def test_a_handler_may_demand_version_two(serve, everything):
    app = shop(intent_middleware(make_protection(), everything=everything))
    answer = await post(await serve(app), "/refund", sign_v1_call("POST", "/refund", now=time.time()))
    assert ((await answer.json())["reason"], app[RUNS]) == ("unsupported-version", [])


class InThreads(MemoryDeliveries):
    is_in_memory = False


@pytest.mark.parametrize("store", [MemoryDeliveries, InThreads])
@serving
async def test_a_retry_gets_the_first_response_and_runs_nothing(serve, store):
    app = shop(intent_middleware(make_protection(deliveries=store(several_workers=True))))
    client = await serve(app)
    for replayed in (None, "true"):
        answer = await post(client, "/orders", sign_call("POST /orders", ARGS, tool_call_id="c"))
        assert (answer.status, (await answer.json())["body"]) == (201, ARGS)
        assert answer.headers.get("Idempotent-Replayed") == replayed
    assert app[RUNS] == ["order"]


@serving
async def test_a_handler_that_raises_may_run_again_and_an_http_exception_is_its_response(serve):
    """A `web.HTTPException` that a handler raises counts as its response; after any other exception a retry runs."""
    app = shop(intent_middleware(make_protection()))
    client = await serve(app)
    answers = [await post(client, "/broken", sign_call("POST /broken", ARGS, tool_call_id="c")) for _ in "abc"]
    assert [answer.status for answer in answers] == [500, 409, 409]
    assert (await answers[2].text(), answers[2].headers["X-Run"]) == ("there is one", "2")
    assert app[RUNS] == ["broken", "broken"]


@serving
async def test_a_streamed_response_is_sent_and_its_retry_does_not_run(serve):
    app = shop(intent_middleware(make_protection()))
    client = await serve(app)
    answers = [await post(client, "/streamed", sign_call("POST /streamed", ARGS, tool_call_id="c")) for _ in "ab"]
    assert await answers[0].text() == "a"
    assert (answers[1].status, (await answers[1].json())["code"]) == (409, "response-not-kept")
    assert app[RUNS] == ["streamed"]


@serving
async def test_a_body_that_is_made_while_it_is_sent_knows_its_intent(serve):
    async def stream(request):
        async def make_lines():
            for _ in range(3):
                yield current_intent().sub.encode()

        return web.Response(body=make_lines())

    app = shop(intent_middleware(make_protection()))
    app.router.add_post("/stream", stream)
    client = await serve(app)
    assert await (await post(client, "/stream", sign_call("POST /stream", ARGS))).text() == "user-1" * 3


@pytest.mark.parametrize("body", [b"", b"{}"])
@serving
async def test_a_handler_and_the_witness_see_whether_a_verified_call_has_a_body(serve, body):
    async def tell(request):
        return web.json_response([request.body_exists, request.can_read_body, await request.text()])

    app = shop(witness_middleware(witness := make_witness(hub := Hub())), intent_middleware(make_protection()))
    app.router.add_delete("/orders", tell)
    client = await serve(app)
    headers = {"X-Service-Intent": sign_call("DELETE /orders", {}), **JSON}
    answer = await client.delete("/orders", data=body, headers=headers)
    assert await answer.json() == [bool(body), bool(body), body.decode()]
    await asyncio.to_thread(witness.flush)
    assert ("requestMediaType" in hub.entries[0]) is bool(body)


@serving
async def test_a_verified_form_with_files_can_still_be_read(serve):
    client = await serve(shop(intent_middleware(make_protection())))
    parts = ['name="name"\r\n\r\nn', 'name="file"; filename="f.txt"\r\n\r\ncontent']
    body = "".join(f"--b\r\nContent-Disposition: form-data; {part}\r\n" for part in parts).encode() + b"--b--\r\n"
    media_type, header = "multipart/form-data; boundary=b", sign_bytes("POST /upload", body)
    headers = {"Content-Type": media_type, "X-Service-Intent": header}
    answer = await client.post("/upload", data=body, headers=headers)
    assert (answer.status, await answer.json()) == (200, {"name": "n", "file": "content"})


@serving
async def test_a_body_is_limited_by_the_protection_and_by_aiohttp(serve):
    guard = make_protection(max_body=lambda method, path: 10 if path == "/size" else 10**6)
    client = await serve(shop(intent_middleware(guard), client_max_size=100))
    for path, value, limit in [
        ("/size", ARGS, "10 bytes (max_body)"),
        ("/orders", "x" * 100, "client_max_size of aiohttp"),
    ]:
        answer = await post(client, path, sign_call(f"POST {path}", value), value)
        assert (answer.status, (await answer.json())["code"]) == (413, "body-too-large")
        assert limit in (await answer.json())["detail"]

    async def chunks():
        for _ in range(20):
            yield b"12345678"

    assert (await client.post("/size", data=chunks())).status == 413
    assert (await post(client, "/orders", sign_call("POST /orders", {"a": 1}), {"a": 1})).status == 201


@serving
async def test_an_unreachable_store_is_503(serve):
    client = await serve(shop(intent_middleware(make_protection(nonces=UnreachableStore()))))
    answer = await post(client, "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status, (await answer.json())["code"]) == (503, "unavailable")


@serving
async def test_reports_name_the_route_with_the_prefix_of_its_application_and_never_a_path(serve):
    guard = make_protection(reports=(reports := RecordedReports()))
    app, inner = shop(intent_middleware(guard)), web.Application()
    inner.router.add_get("/users/{name}", health)
    app.add_subapp("/admin", inner)
    client = await serve(app)
    for path in ("/orders/17", "/admin/users/jane-doe", "/jane-doe", "/orders/jane"):
        assert (await client.get(path)).status == 403
    assert (await client.get("/orders/17", headers={"X-Service-Intent": sign_call("GET /orders/17", {})})).status == 200
    assert reports.operations == [
        ("missing-header", "GET /orders/{order_id}"), ("missing-header", "GET /admin/users/{name}"),
        ("missing-header", ""), ("missing-header", ""), ("accepted", "GET /orders/{order_id}"),
    ]  # fmt: skip


@pytest.mark.parametrize(("path", "raw_path"), [("/orders/17", "/orders%2F17"), ("/orders/%zz", "/orders/%zz")])
@serving
async def test_a_raw_path_that_servers_read_differently_is_refused(serve, path, raw_path):
    client = await serve(shop(intent_middleware(make_protection())))
    target = client.make_url("/").join(type(client.make_url("/"))(raw_path, encoded=True))
    answer = await client.session.get(target, headers={"X-Service-Intent": sign_call(f"GET {path}", {})})
    assert (answer.status, (await answer.json())["reason"]) == (403, "operation-mismatch")


@serving
async def test_an_encoded_body_is_refused_although_aiohttp_has_decoded_it(serve):
    app = shop(intent_middleware(make_protection()))
    client = await serve(app)
    headers = {"X-Service-Intent": sign_call("POST /orders", ARGS), "Content-Encoding": "gzip"}
    answer = await client.post("/orders", data=gzip.compress(encode_json(ARGS)), headers={**headers, **JSON})
    problem = await answer.json()
    assert (answer.status, problem["reason"], app[RUNS]) == (403, "args-mismatch", [])
    assert "Content-Encoding" in problem["detail"]


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@serving
async def test_a_body_that_aiohttp_cannot_decode_says_nothing_about_the_intent(serve, encoding):
    guard = make_protection(reports=(reports := RecordedReports()))
    client = await serve(shop(intent_middleware(guard)))
    headers = {"X-Service-Intent": sign_call("POST /orders", ARGS), "Content-Encoding": encoding, **JSON}
    body = b"\x78" + encode_json(ARGS)
    answer = await client.post("/orders", data=body, headers=headers, compress=None)
    assert (answer.status, (await answer.json(content_type=None))["code"]) == (400, "body-incomplete")
    assert (client.app[RUNS], reports.operations) == ([], [])


@pytest.mark.parametrize(("media_type", "status"), [("application/+json", 201), ("application/json, text/plain", 403)])
@serving
async def test_media_types_are_json_by_the_contract_and_not_by_aiohttp(serve, media_type, status):
    client = await serve(shop(intent_middleware(make_protection())))
    answer = await post(client, "/orders", sign_call("POST /orders", ARGS), headers={"Content-Type": media_type})
    assert answer.status == status


@serving
async def test_an_exempt_request_needs_no_intent(serve):
    guard = make_protection(exempt=lambda method, path: path == "/health")
    client = await serve(shop(intent_middleware(guard)))
    assert (await client.get("/health")).status == 200
    assert (await client.get("/nowhere")).status == 403


@serving
async def test_a_decorated_handler_without_the_middleware_never_runs(serve):
    app = shop()
    assert (await post(await serve(app), "/refund", sign_call("POST /refund", ARGS))).status == 500
    assert app[RUNS] == []


async def fill(request):
    return web.Response(text=",".join(await request.post()), content_type="text/csv")


@serving
async def test_the_witness_sees_fields_of_forms_and_media_types(serve):
    witness = make_witness(hub := Hub())
    app = web.Application(middlewares=[witness_middleware(witness)])
    app.router.add_post(r"/forms/{pk:\d+}", fill)
    client = await serve(app)
    upload = FormData({"note": "canary"})
    upload.add_field("file", b"canary" * 100_000, filename="canary.txt")
    assert await (await client.post("/forms/1", data={"a": "canary"})).text() == "a"
    assert await (await client.post("/forms/2", data=upload)).text() == "note,file"
    await client.post("/forms/3", data=b"canary", headers={"Content-Type": "text/x-canary"})
    await asyncio.to_thread(witness.flush)
    url_encoded, multipart, raw = sorted(hub.entries, key=lambda entry: entry["requestMediaType"])
    assert list_types(url_encoded["request"]) == {"a": "string"}
    assert list_types(multipart["request"]) == {"note": "string", "file": "binary string"}
    assert raw["requestMediaType"] == "text/*"
    assert all(entry["responseMediaType"] == "text/csv" for entry in hub.entries)
    assert all(entry["parameters"] == {"pk": {"type": "integer"}} for entry in hub.entries)
    assert b"canary" not in b"".join(hub.bodies)


@serving
async def test_a_form_whose_names_are_not_utf_8_has_no_shape_and_spoils_no_report(serve):
    async def drain(request):
        await request.post()
        return web.Response()

    witness = make_witness(hub := Hub())
    app = web.Application(middlewares=[witness_middleware(witness)])
    app.router.add_post("/forms", drain)
    body = b'--x\r\nContent-Disposition: form-data; name="a\xff"\r\n\r\n1\r\n--x--\r\n'
    await (await serve(app)).post("/forms", data=body, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert await asyncio.to_thread(witness.flush)
    assert hub.counts == {("POST", "/forms", 200): 1}
    assert witness.stats.bodies_left_out == {"not a valid form": 1}


@serving
async def test_the_witness_sees_routes_and_shapes_and_changes_nothing(serve):
    witness = make_witness(hub := Hub())
    app = shop(witness_middleware(witness), intent_middleware(make_protection(), everything=False))
    client = await serve(app)
    assert await (await client.get("/health")).json() == {"ok": True}
    assert (await post(client, "/refund", sign_call("POST /refund", ARGS))).status == 200
    app[RUNS].clear()
    assert (await post(client, "/broken", None)).status == 500
    assert (await post(client, "/broken", None)).status == 409
    assert await (await post(client, "/streamed", None)).text() == "a"
    assert (await client.get("/jane-doe")).status == 404
    await asyncio.to_thread(witness.flush)
    assert hub.counts == {
        ("GET", "/health", 200): 1, ("POST", "/refund", 200): 1, ("POST", "/broken", 500): 1,
        ("POST", "/broken", 409): 1, ("POST", "/streamed", 200): 1,
    }  # fmt: skip
    (entry,) = [entry for entry in hub.entries if entry["path"] == "/refund"]
    assert set(entry["request"]["properties"]) == set(entry["response"]["properties"]) == set(ARGS)


@serving
async def test_the_witness_sees_the_status_with_which_a_file_is_sent(serve, tmp_path):
    file = tmp_path / "report.json"
    file.write_text('{"id": 1}')

    async def download(request):
        return web.FileResponse(tmp_path / request.match_info["name"])

    witness = make_witness(hub := Hub())
    app = shop(witness_middleware(witness))
    app.router.add_get("/files/{name}", download)
    client = await serve(app)
    whole = await client.get("/files/report.json")
    assert await whole.json() == {"id": 1}
    for status, headers in (
        (304, {"If-None-Match": whole.headers["ETag"]}), (206, {"Range": "bytes=0-2"}), (416, {"Range": "bytes=99-"}),
    ):  # fmt: skip
        assert (await client.get("/files/report.json", headers=headers)).status == status
    assert (await client.get("/files/none.json")).status == 404
    await asyncio.to_thread(witness.flush)
    assert hub.counts == {("GET", "/files/{name}", status): 1 for status in (200, 206, 304, 404, 416)}
    types = {entry["status"]: entry.get("responseMediaType") for entry in hub.entries}
    assert (types[200], types[206], types[304]) == ("application/json", "application/json", None)


@serving
async def test_the_response_of_a_call_that_has_run_is_kept_even_if_it_is_cancelled_just_then(serve, tmp_path):
    """A server that stops, or one with `handler_cancellation`, cancels the handler of a client who is gone."""

    async def last_moment(request):
        runs.append(request.path)
        asyncio.current_task().cancel()
        return web.json_response({"ok": True})

    runs = []
    app = shop(intent_middleware(make_protection(deliveries=SqliteDeliveries(tmp_path / "deliveries"))))
    app.router.add_post("/o", last_moment)
    client = await serve(app)
    for number in range(20):
        with pytest.raises(ClientError):
            await post(client, "/o", sign_call("POST /o", ARGS, tool_call_id=f"c{number}"))
        retry = await post(client, "/o", sign_call("POST /o", ARGS, tool_call_id=f"c{number}"))
        assert (retry.status, retry.headers.get("Idempotent-Replayed")) == (200, "true")
    assert len(runs) == 20


@serving
async def test_a_call_that_is_cancelled_again_and_again_during_its_claim_leaves_no_claim(serve):
    """As when a server stops just after a client has hung up, or in a scope of anyio."""
    deliveries = PausedDeliveries()

    @web.middleware
    async def note_task(request, handler):
        tasks.append(asyncio.current_task())
        return await handler(request)

    tasks = []
    protection = make_protection(deliveries=deliveries)
    client = await serve(shop(note_task, intent_middleware(protection)))
    calling = asyncio.create_task(post(client, "/refunds", sign_call("POST /refunds", ARGS)))
    await asyncio.to_thread(deliveries.claiming.wait, 10)
    for _ in range(3):
        tasks[0].cancel()
        await asyncio.sleep(0.01)
    deliveries.go_on.set()
    with pytest.raises(ClientError):
        await calling
    for _ in range(100):
        await asyncio.sleep(0 if deliveries.abandoned else 0.01)
    assert len(deliveries.abandoned) == 1
