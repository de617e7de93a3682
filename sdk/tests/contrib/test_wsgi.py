import io
import json
import time

import pytest
from support.signed_calls import (
    RecordedReports,
    UnreachableStore,
    encode_json,
    make_protection,
    sign_call,
    sign_v1_call,
)

from affidavit import REASONS, IntentVerifier, MemoryNonces, Protection
from affidavit.contrib.wsgi import IntentMiddleware, current_intent, intent_required

flask = pytest.importorskip("flask", reason="needs Flask")


ARGS = {"isbn": "978", "qty": 2}


def shop(guard: Protection, *, everything: bool = True, **settings) -> flask.Flask:
    """Return a shop whose views record in `shop.runs` that they ran."""
    app = flask.Flask(__name__)
    app.config.update(settings)
    app.runs = []

    @app.post("/orders")
    def order():
        app.runs.append(current_intent().args)
        return {"sub": current_intent().sub, "body": flask.request.get_json()}, 201, {"Set-Cookie": "s=1", "X-Run": "1"}

    @app.get("/orders/<int:order_id>")
    def show(order_id):
        app.runs.append(order_id)
        return {"id": order_id, "args": current_intent().args}

    @app.post("/refunds")
    @intent_required(minimum_version=2)
    def refund():
        app.runs.append("refund")
        return {"refunded": flask.request.get_json()}

    @app.post("/rpc")
    @intent_required(operation="orders.cancel")
    def cancel():
        app.runs.append("cancel")
        return {}

    @app.get("/health")
    def health():
        return {"ok": True}

    @app.post("/broken")
    @intent_required
    def broken():
        app.runs.append("broken")
        if len(app.runs) == 1:
            raise RuntimeError("on purpose")
        return {"runs": len(app.runs)}

    @app.post("/busy")
    def busy():
        app.runs.append("busy")
        return {}, 503

    @app.post("/large")
    def large():
        app.runs.append("large")
        return flask.Response((b"x" * 1000 for _ in range(20)), mimetype="text/plain")

    app.wsgi_app = IntentMiddleware(app.wsgi_app, guard, everything=everything)
    return app


def post(app, path, header, value=ARGS, **options):
    headers = {"X-Service-Intent": header} if header else {}
    return app.test_client().post(
        path, data=encode_json(value), content_type="application/json", headers=headers, **options
    )


def test_a_signed_call_reaches_the_view_with_intent_arguments_and_body():
    app = shop(make_protection())
    answer = post(app, "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status_code, answer.get_json()) == (201, {"sub": "user-1", "body": ARGS})
    assert app.runs == [ARGS]


def test_query_arguments_are_verified():
    app = shop(make_protection(reports=(reports := RecordedReports())))
    client = app.test_client()
    header = sign_call("GET /orders/17", {"full": "1"})
    answer = client.get("/orders/17?full=1", headers={"X-Service-Intent": header})
    assert answer.get_json() == {"id": 17, "args": {"full": "1"}}
    assert client.get("/orders/17?full=2", headers={"X-Service-Intent": header}).get_json()["reason"] == "args-mismatch"
    # The second call has its operation, though it was rejected before the app's router ran.
    assert reports.operations == [
        ("accepted", "GET /orders/{order_id}"),
        ("args-mismatch", "GET /orders/{order_id}"),
    ]


@pytest.mark.parametrize(("header", "reason"), [  # each test mints its own intent, which lasts five minutes
    (lambda: None, "missing-header"),
    (lambda: "nonsense!", "malformed"),
    (lambda: sign_call("POST /orders", {**ARGS, "qty": 3}), "args-mismatch"),
    (lambda: sign_call("POST /order", ARGS), "operation-mismatch"),
])  # fmt: skip
def test_a_rejection_is_a_problem_document_with_its_reason_and_fix(header, reason):
    app = shop(make_protection())
    answer = post(app, "/orders", header())
    problem = answer.get_json(force=True)
    assert (answer.status_code, answer.content_type) == (403, "application/problem+json")
    assert (problem["code"], problem["reason"], problem["status"]) == ("intent-rejected", reason, 403)
    assert REASONS[reason].usual_fix in problem["detail"]
    assert app.runs == []


def test_a_header_is_accepted_once():
    app = shop(make_protection())
    header = sign_call("POST /orders", ARGS)
    assert post(app, "/orders", header).status_code == 201
    assert post(app, "/orders", header).get_json(force=True)["reason"] == "replayed"


@pytest.mark.parametrize("everything", [True, False])
def test_an_app_that_is_protected_twice_verifies_a_call_once(everything):
    app = shop(guard := make_protection(reports=(reports := RecordedReports())), everything=everything)
    app.wsgi_app = IntentMiddleware(app.wsgi_app, guard)
    for path in ("/orders", "/refunds"):
        answers = [post(app, path, sign_call(f"POST {path}", ARGS, tool_call_id=path)) for _ in range(2)]
        assert [answer.headers.get("Idempotent-Replayed") for answer in answers] == [None, "true"]
        assert answers[0].get_json() == answers[1].get_json()
    assert app.runs == [ARGS, "refund"]
    assert [result for result, *_ in reports.operations] == ["accepted"] * 4


def test_a_call_that_a_view_makes_with_a_copy_of_its_environ_is_verified():
    guard, runs, statuses = make_protection(), [], []

    def inner(environ, start_response):
        runs.append(environ["PATH_INFO"])
        return []

    def outer(environ, start_response):
        for changes in ({"PATH_INFO": "/refunds"}, {"REQUEST_METHOD": "PUT"}, {"QUERY_STRING": "a=1"}):
            own_environ = {**environ, **changes, "wsgi.input": io.BytesIO(encode_json(ARGS))}
            IntentMiddleware(inner, guard)(own_environ, lambda status, headers: statuses.append(status))
        start_response("200 OK", [])
        return [b"{}"]

    app = flask.Flask(__name__)
    app.wsgi_app = IntentMiddleware(outer, guard)
    assert post(app, "/orders", sign_call("POST /orders", ARGS)).status_code == 200
    assert (runs, [status[:3] for status in statuses]) == ([], ["403"] * 3)


def test_a_retry_gets_the_first_response_and_runs_nothing():
    app = shop(make_protection())
    answers = [post(app, "/orders", sign_call("POST /orders", ARGS, tool_call_id="c")) for _ in range(2)]
    assert [answer.get_data() for answer in answers] == [answers[0].get_data()] * 2
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[1].headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in answers[0].headers
    assert answers[1].headers["X-Run"] == "1"
    assert "Set-Cookie" not in answers[1].headers
    assert len(app.runs) == 1


def test_a_response_without_a_body_is_kept():
    app = shop(make_protection())

    @app.delete("/orders/<int:order_id>")
    def delete(order_id):
        app.runs.append(order_id)
        return "", 204

    for replayed in (None, "true"):
        headers = {"X-Service-Intent": sign_call("DELETE /orders/7", {}, tool_call_id="c")}
        answer = app.test_client().delete("/orders/7", headers=headers)
        assert (answer.status_code, answer.data, answer.headers.get("Idempotent-Replayed")) == (204, b"", replayed)
    assert app.runs == [7]


def test_another_call_under_the_same_id_is_422():
    app = shop(make_protection())
    post(app, "/orders", sign_call("POST /orders", ARGS, tool_call_id="c"))
    answer = post(app, "/orders", sign_call("POST /orders", {"qty": 9}, tool_call_id="c"), {"qty": 9})
    assert (answer.status_code, answer.get_json(force=True)["code"]) == (422, "tool-call-id-reused")


def test_a_delivery_during_a_running_one_is_409():
    guard = make_protection()
    app = flask.Flask(__name__)
    inner = []

    @app.post("/slow")
    def slow():
        inner.append(post(app, "/slow", sign_call("POST /slow", ARGS, tool_call_id="c")))
        return {}

    app.wsgi_app = IntentMiddleware(app.wsgi_app, guard)
    assert post(app, "/slow", sign_call("POST /slow", ARGS, tool_call_id="c")).status_code == 200
    assert inner[0].status_code == 409
    assert 1 <= int(inner[0].headers["Retry-After"]) <= 60


@pytest.mark.parametrize("propagates", [False, True])
def test_after_a_view_that_raises_a_retry_runs(propagates):
    app = shop(make_protection(), everything=False, PROPAGATE_EXCEPTIONS=propagates)
    if propagates:
        with pytest.raises(RuntimeError):
            post(app, "/broken", sign_call("POST /broken", ARGS, tool_call_id="c"))
    else:
        assert post(app, "/broken", sign_call("POST /broken", ARGS, tool_call_id="c")).status_code == 500
    answer = post(app, "/broken", sign_call("POST /broken", ARGS, tool_call_id="c"))
    assert (answer.status_code, answer.get_json()) == (200, {"runs": 2})


def test_a_503_response_is_not_kept():
    app = shop(make_protection())
    for _ in range(2):
        assert post(app, "/busy", sign_call("POST /busy", ARGS, tool_call_id="c")).status_code == 503
    assert app.runs == ["busy"] * 2


def test_a_response_too_large_to_keep_is_sent_whole_and_its_retry_does_not_run():
    app = shop(make_protection(max_kept=5000))
    first = post(app, "/large", sign_call("POST /large", ARGS, tool_call_id="c"))
    assert first.get_data() == b"x" * 20_000
    second = post(app, "/large", sign_call("POST /large", ARGS, tool_call_id="c"))
    assert (second.status_code, second.get_json(force=True)["code"]) == (409, "response-not-kept")
    assert app.runs == ["large"]


@pytest.mark.parametrize("stores", [{"nonces": UnreachableStore()}, {"deliveries": UnreachableStore()}])
def test_an_unreachable_store_is_503_and_nothing_runs(stores):
    app = shop(make_protection(**stores))
    answer = post(app, "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status_code, answer.get_json(force=True)["code"]) == (503, "unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert app.runs == []


def test_an_exempt_request_needs_no_intent():
    app = shop(make_protection(exempt=lambda method, path: path == "/health"))
    assert app.test_client().get("/health").get_json() == {"ok": True}
    assert app.test_client().get("/orders/1").status_code == 403


def test_a_route_may_demand_version_two():
    for everything in (True, False):
        app = shop(make_protection(), everything=everything)
        answer = post(app, "/refunds", sign_v1_call("POST", "/refunds", now=time.time()))
        assert (answer.status_code, answer.get_json(force=True)["reason"]) == (403, "unsupported-version")
        assert post(app, "/refunds", sign_call("POST /refunds", ARGS)).get_json() == {"refunded": ARGS}
        assert app.runs == ["refund"]


def test_a_view_may_declare_its_own_operation():
    reports = RecordedReports()
    app = shop(make_protection(reports=reports), everything=False)
    assert post(app, "/rpc", sign_call("orders.cancel", ARGS)).status_code == 200
    assert post(app, "/rpc", sign_call("POST /rpc", ARGS)).get_json(force=True)["reason"] == "operation-mismatch"
    assert reports.operations == [("accepted", "orders.cancel"), ("operation-mismatch", "orders.cancel")]


@pytest.mark.parametrize("everything", [True, False])
def test_version_one_is_checked_by_method_and_path_even_if_the_view_declares_an_operation(everything):
    app = shop(make_protection(), everything=everything)
    assert post(app, "/rpc", sign_v1_call("POST", "/rpc", now=time.time())).status_code == 200
    refused = post(app, "/rpc", sign_v1_call("POST", "/orders", now=time.time()))
    assert refused.get_json(force=True)["reason"] == "path-mismatch"


def test_without_everything_only_decorated_views_are_protected():
    app = shop(make_protection(), everything=False)
    assert app.test_client().get("/health").status_code == 200
    assert post(app, "/refunds", None).get_json(force=True)["reason"] == "missing-header"


def test_a_decorated_view_may_be_async():
    pytest.importorskip("asgiref", reason="async views of Flask need asgiref")
    app = shop(make_protection(), everything=False)

    @app.post("/awaited")
    @intent_required
    async def awaited():
        return current_intent().args

    assert post(app, "/awaited", None).status_code == 403
    answer = post(app, "/awaited", sign_call("POST /awaited", ARGS))
    assert (answer.status_code, answer.get_json()) == (200, ARGS)


def test_a_decorated_view_without_the_middleware_never_runs():
    app = flask.Flask(__name__)
    app.testing = True
    ran = []
    app.add_url_rule("/x", view_func=intent_required(lambda: ran.append(1) or {}), endpoint="x")
    with pytest.raises(RuntimeError, match="IntentMiddleware"):
        app.test_client().get("/x")
    assert ran == []


def test_outside_a_protected_request_there_is_no_intent():
    with pytest.raises(LookupError):
        current_intent()


@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_over_the_limit_is_413(chunked):
    app = shop(make_protection(max_body=10))
    environ = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"} if chunked else {}
    data = encode_json(ARGS)
    answer = app.test_client().post(
        "/orders", input_stream=io.BytesIO(data), content_type="application/json",
        content_length=None if chunked else len(data), environ_overrides=environ,
    )  # fmt: skip
    assert (answer.status_code, answer.get_json(force=True)["code"]) == (413, "body-too-large")


def test_a_body_that_breaks_off_says_nothing_about_the_intent():
    app = shop(make_protection(reports=(reports := RecordedReports())))
    data = encode_json(ARGS)
    answer = app.test_client().post(
        "/orders", input_stream=io.BytesIO(data[:-1]), content_type="application/json",
        headers={"X-Service-Intent": sign_call("POST /orders", ARGS)},
        environ_overrides={"CONTENT_LENGTH": str(len(data))},
    )  # fmt: skip
    assert (answer.status_code, answer.get_json(force=True)["code"]) == (400, "body-incomplete")
    assert (reports.verifications, app.runs) == ([], [])


class BrokenInput(io.BytesIO):
    """A body whose client is gone after three bytes: gunicorn (for chunks), uWSGI and mod_wsgi raise OSError then."""

    def read(self, size=-1, /):
        if self.tell():
            raise OSError("the client is gone")
        return super().read(3)


@pytest.mark.parametrize("environ", [{"CONTENT_LENGTH": "20"}, {"wsgi.input_terminated": True}])
def test_a_server_that_cannot_read_the_whole_body_is_answered_400(environ):
    app = shop(make_protection(reports=(reports := RecordedReports())))
    answer = app.test_client().post(
        "/orders", input_stream=BrokenInput(encode_json(ARGS)), content_type="application/json",
        headers={"X-Service-Intent": sign_call("POST /orders", ARGS)}, environ_overrides=environ,
    )  # fmt: skip
    assert (answer.status_code, answer.get_json(force=True)["code"]) == (400, "body-incomplete")
    assert (reports.verifications, app.runs) == ([], [])


def test_the_mount_prefix_is_part_of_the_operation():
    app = shop(make_protection(reports=(reports := RecordedReports())))
    mount = {"base_url": "http://localhost/shop"}
    header = sign_call("GET /shop/orders/5", {})
    assert app.test_client().get("/orders/5", headers={"X-Service-Intent": header}, **mount).status_code == 200
    header = sign_call("GET /orders/5", {})
    assert app.test_client().get("/orders/5", headers={"X-Service-Intent": header}, **mount).status_code == 403
    assert reports.operations[0] == ("accepted", "GET /shop/orders/{order_id}")


@pytest.mark.parametrize("variable", ["REQUEST_URI", "RAW_URI"])
@pytest.mark.parametrize(("path", "raw_path"), [("/orders/5", "/orders%2F5"), ("/orders/%zz", "/orders/%zz")])
def test_a_raw_path_that_servers_read_differently_is_refused(variable, path, raw_path):
    app = shop(make_protection())
    environ = {"REQUEST_URI": "", "RAW_URI": "", "PATH_INFO": path, variable: f"{raw_path}?x=%2F"}
    answer = app.test_client().get(
        "/", headers={"X-Service-Intent": sign_call(f"GET {path}", {})}, environ_overrides=environ
    )
    assert answer.get_json(force=True)["reason"] == "operation-mismatch"


@pytest.mark.parametrize("charset", ["utf-7", '"UTF-7"', "unicode_escape", "utf-8"])
def test_an_app_that_decodes_by_the_charset_reads_the_texts_that_were_verified(charset):
    app = shop(make_protection())

    @app.post("/webob")
    def read_as_webob_does():
        return json.loads(flask.request.data.decode(flask.request.mimetype_params["charset"]))

    body = {"isbn": "978+ACI-,+ACI-qty+ACI-:+ACI-9", "note": 'a","qty":"9'}
    answer = app.test_client().post(
        "/webob", data=encode_json(body), content_type=f"application/json; Charset={charset}; v=1",
        headers={"X-Service-Intent": sign_call("POST /webob", body)},
    )  # fmt: skip
    assert (answer.status_code, answer.get_json()) == (200, body)


def test_an_encoded_body_is_refused():
    app = shop(make_protection())
    headers = {"X-Service-Intent": sign_call("POST /orders", ARGS), "Content-Encoding": "gzip"}
    answer = app.test_client().post("/orders", json=ARGS, headers=headers)
    problem = answer.get_json(force=True)
    assert (answer.status_code, problem["reason"], app.runs) == (403, "args-mismatch", [])
    assert "Content-Encoding" in problem["detail"]


@pytest.mark.parametrize(("media_type", "status"), [("application/+json", 201), ("application/json\xa0", 403)])
def test_media_types_are_json_by_the_contract(media_type, status):
    """Contract §3 says which media types are JSON. The intent signs JSON, so it is rejected with any other type."""
    headers = {"X-Service-Intent": sign_call("POST /orders", ARGS)}
    body = encode_json(ARGS)
    answer = shop(make_protection()).test_client().post("/orders", data=body, headers=headers, content_type=media_type)
    assert answer.status_code == status


def test_the_step_up_gate_gets_the_request():
    requests = []

    def step_up(intent, environ):
        requests.append((intent.sub, environ["PATH_INFO"]))
        return environ.get("HTTP_X_STEPPED_UP") == "yes"

    app = shop(make_protection(step_up=step_up))
    header = sign_call("POST /orders", ARGS, requires_step_up=True)
    assert post(app, "/orders", header).get_json(force=True)["reason"] == "step-up-required"
    answer = app.test_client().post(
        "/orders", json=ARGS, headers={"X-Service-Intent": sign_call("POST /orders", ARGS), "X-Stepped-Up": "yes"}
    )
    assert answer.status_code == 201
    assert requests == [("user-1", "/orders")]


def test_a_path_that_is_not_utf_8_is_rejected():
    app = shop(make_protection(reports=RecordedReports()))
    for header in (sign_call("GET /orders/\ufffd", {}), None):
        headers = {"X-Service-Intent": header} if header else {}
        answer = app.test_client().get("/", environ_overrides={"PATH_INFO": "/orders/\xff"}, headers=headers)
        assert answer.status_code == 403


def call_plain(app, guard):
    """Send one call to a WSGI app; return the arguments of `start_response`, and the chunks."""
    started = []
    body = encode_json(ARGS)
    environ = {
        "REQUEST_METHOD": "POST", "PATH_INFO": "/x", "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body),
        "CONTENT_TYPE": "application/json", "HTTP_X_SERVICE_INTENT": sign_call("POST /x", ARGS, tool_call_id="c"),
    }  # fmt: skip
    chunks = IntentMiddleware(app, guard)(environ, lambda status, headers, *_: started.append((status, dict(headers))))
    return started, chunks


def test_a_plain_wsgi_app_that_writes_and_yields_is_kept_whole():
    runs = []

    def app(environ, start_response):
        runs.append(environ["wsgi.input"].read())
        write = start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
        write(b"a")
        yield b"b"
        yield b"c"

    guard = make_protection()
    started, chunks = call_plain(app, guard)
    assert (started[0][0], b"".join(chunks)) == ("200 OK", b"abc")
    started, chunks = call_plain(app, guard)
    assert (started[0][1]["Idempotent-Replayed"], b"".join(chunks)) == ("true", b"abc")
    assert runs == [encode_json(ARGS)]


def test_a_stream_is_passed_on_chunk_by_chunk_and_not_kept():
    order = []

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "application/x-ndjson")])
        for number in b"12":
            order.append(number)
            yield b"%c" % number

    guard = make_protection()
    started, chunks = call_plain(app, guard)
    for chunk in chunks:
        order.append(chunk)
    assert (started[0][0], order) == ("200 OK", [*b"1", b"1", *b"2", b"2"])
    started, chunks = call_plain(app, guard)
    assert (started[0][0], json.loads(b"".join(chunks))["code"]) == ("409 Conflict", "response-not-kept")


def test_a_stream_knows_its_intent_until_it_is_closed_and_no_longer():
    closed = []

    class Lines:
        def __iter__(self):
            return (current_intent().sub.encode() for _ in range(3))

        def close(self):
            closed.append(current_intent().sub)

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "application/x-ndjson")])
        return Lines()

    _, chunks = call_plain(app, make_protection())
    for chunk in chunks:
        assert chunk == b"user-1"
        with pytest.raises(LookupError):
            current_intent()
    chunks.close()
    assert closed == ["user-1"]


def test_a_stream_of_flask_knows_its_intent():
    app = shop(make_protection())

    @app.post("/stream")
    def stream():
        return (f"{current_intent().sub}\n" for _ in range(3))

    assert post(app, "/stream", sign_call("POST /stream", ARGS)).text == "user-1\n" * 3


def test_a_stream_that_fails_before_its_first_chunk_may_run_again():
    def app(environ, start_response):
        start_response("200 OK", [])
        if not runs:
            runs.append(1)
            raise RuntimeError("on purpose")
        yield b"done"

    runs, guard = [], make_protection()
    with pytest.raises(RuntimeError):
        call_plain(app, guard)
    assert b"".join(call_plain(app, guard)[1]) == b"done"


@pytest.mark.parametrize("chunks", [[], [b"1"]])
def test_a_response_that_fails_is_closed(chunks):
    class Response:
        closed = 0

        def __iter__(self):
            yield from chunks
            raise RuntimeError("on purpose")

        def close(self):
            self.closed += 1

    def app(environ, start_response):
        start_response("200 OK", [("Content-Length", "2")])
        return response

    response = Response()
    with pytest.raises(RuntimeError):
        call_plain(app, make_protection())
    assert response.closed == 1


def test_an_event_stream_is_passed_on_event_by_event():
    order = []

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/event-stream")])

        def events():
            for number in range(2):
                order.append(f"made {number}")
                yield b"data"

        return events()

    wrapped = IntentMiddleware(app, make_protection())
    environ = {
        "REQUEST_METHOD": "GET", "PATH_INFO": "/x", "HTTP_X_SERVICE_INTENT": sign_call("GET /x", {}),
        "wsgi.input": io.BytesIO(),
    }  # fmt: skip
    for _ in wrapped(environ, lambda *_: order.append("started")):
        order.append("sent")
    assert order == ["started", "sent", "made 0", "sent", "made 1", "sent"]


def test_without_a_delivery_store_nothing_is_kept():
    verifier = IntentVerifier(
        secrets="gas_" + "s" * 43,
        workspace="ws_0123456789abcdef",
        audience="urn:affidavit:lumen:production",
        nonces=MemoryNonces(),
    )
    app = shop(Protection(verifier, None))
    for _ in range(2):
        assert post(app, "/orders", sign_call("POST /orders", ARGS, tool_call_id="c")).status_code == 201
    assert len(app.runs) == 2


@pytest.mark.parametrize("path", ["//orders", "///orders", "/\xfforders"])
def test_a_path_that_a_framework_routes_as_another_is_exempt_only_if_that_one_is_too(path):
    app = flask.Flask("shop")
    app.add_url_rule("/<path:name>", view_func=lambda name: name, methods=["POST"])
    protection = make_protection(exempt=lambda method, path: not path.startswith("/orders"))
    middleware = IntentMiddleware(app.wsgi_app, protection)

    def call(path):
        statuses = []
        environ = {"REQUEST_METHOD": "POST", "PATH_INFO": path, "wsgi.input": io.BytesIO(), "wsgi.url_scheme": "http"}
        environ |= {"SERVER_NAME": "shop", "SERVER_PORT": "80"}
        b"".join(middleware(environ, lambda status, headers: statuses.append(status[:3])))
        return statuses

    assert call(path) == ["403"]
    assert call("//static") == ["200"]
