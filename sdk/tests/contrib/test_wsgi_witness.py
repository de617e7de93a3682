import gzip
import io
import json
import re
from wsgiref.handlers import SimpleHandler

import pytest
from support.scripted_hub import ScriptedHub
from support.signed_calls import encode_json, make_protection, sign_call
from support.witness_hub import HUB_AWAY, JSON, KEY, Hub, list_types, make_witness

from affidavit import Witness
from affidavit.contrib.wsgi import IntentMiddleware, WitnessMiddleware, current_intent

flask = pytest.importorskip("flask", reason="needs Flask")


def shop(witness):
    app = flask.Flask(__name__)

    @app.post("/orders")
    def order():
        return {"books": flask.request.get_json()["books"]}, 201

    @app.get("/orders/<int:order_id>")
    def show(order_id):
        return {"id": order_id, "email": "anna@example.com"}

    @app.get("/orders/<int:order_id>/lines")
    def lines(order_id):
        def pieces():
            yield b"["
            yield b'{"n":1}'
            yield b"]"

        return flask.Response(pieces(), mimetype=JSON)

    @app.get("/packed")
    def packed():
        return flask.Response(
            gzip.compress(b'{"packed":1}', mtime=0), mimetype=JSON, headers={"Content-Encoding": "gzip"}
        )

    @app.get("/page")
    def page():
        return "<p>hello"

    @app.get("/checkout")
    def broken():
        raise RuntimeError("on purpose")

    @app.post("/unread")
    def unread():
        return {}

    @app.post("/forms")
    def forms():
        return {"sizes": [len(file.read()) for file in flask.request.files.values()]}

    @app.post("/raw")
    def raw():
        return flask.Response(status=204 if flask.request.data else 201, headers={"Content-Length": "0"})

    app.wsgi_app = WitnessMiddleware(app.wsgi_app, witness)
    return app


def flush_entries(witness, hub):
    assert witness.flush()
    return {(entry["method"], entry["path"], entry["status"]): entry for entry in hub.entries}


def test_a_flask_app_is_reported_by_its_own_routes():
    client = shop(witness := make_witness(hub := Hub())).test_client()
    for number in range(3):
        assert client.get(f"/orders/{number}?full=1").get_json() == {"id": number, "email": "anna@example.com"}
    assert client.post("/orders", json={"books": [1, 2]}).get_json() == {"books": [1, 2]}
    entries = flush_entries(witness, hub)
    fetched, posted = entries["GET", "/orders/{order_id}", 200], entries["POST", "/orders", 201]
    assert (fetched["count"], fetched["parameters"]) == (3, {"order_id": {"type": "integer"}})
    assert fetched["response"]["properties"]["email"]["redacted"]
    assert "full" in fetched["query"]["properties"]
    assert posted["request"]["properties"]["books"]["items"]["seen"] == 2
    assert b"anna" not in hub.bodies[0]


def test_a_stream_is_reported_and_passes_chunk_by_chunk():
    app = shop(witness := make_witness(hub := Hub()))
    passed = []
    environ = app.test_request_context("/orders/5/lines").request.environ
    chunks = app.wsgi_app(environ, lambda status, headers, *_: passed.append(status))
    assert next(iter(chunks)) == b"["
    assert flush_entries(witness, hub) == {}
    assert list(chunks) == [b'{"n":1}', b"]"]
    chunks.close()
    assert flush_entries(witness, hub)["GET", "/orders/{order_id}/lines", 200]["response"]["items"][
        "properties"
    ].keys() == {"n"}


def test_a_stream_over_the_size_limit_is_passed_on_without_buffering():
    chunk_numbers = []

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", JSON)])
        for number in range(1000):
            chunk_numbers.append(number)
            yield b"[" * 1000

    witness = make_witness(hub := Hub(), max_body=5000)
    chunks = WitnessMiddleware(app, witness)(environ(), lambda *_: None)
    for number, chunk in enumerate(chunks):
        assert (chunk, len(chunk_numbers)) == (b"[" * 1000, number + 1)
        assert sum(map(len, chunks._exchange._response._chunks)) <= 5000
    witness.flush()
    assert witness.stats.bodies_left_out == {"too large": 1}
    assert len(hub.entries) == 1


def environ(path="/orders/1", **more):
    return {
        "REQUEST_METHOD": "GET", "PATH_INFO": path, "SCRIPT_NAME": "", "QUERY_STRING": "",
        "wsgi.input": io.BytesIO(), "SERVER_PROTOCOL": "HTTP/1.0", **more,
    }  # fmt: skip


def test_a_client_that_disconnects_leaves_no_partial_shape():
    app = shop(witness := make_witness(hub := Hub()))
    chunks = app.wsgi_app(app.test_request_context("/orders/5/lines").request.environ, lambda *_: None)
    next(iter(chunks))
    chunks.close()
    assert "response" not in flush_entries(witness, hub)["GET", "/orders/{order_id}/lines", 200]
    assert witness.stats.bodies_left_out == {"not seen whole": 1}


def test_compressed_responses_and_pages_pass_unchanged():
    client = shop(witness := make_witness(hub := Hub())).test_client()
    assert client.get("/packed").get_data() == gzip.compress(b'{"packed":1}', mtime=0)
    assert client.get("/page").get_data() == b"<p>hello"
    entries = flush_entries(witness, hub)
    assert "packed" in entries["GET", "/packed", 200]["response"]["properties"]
    assert "response" not in entries["GET", "/page", 200]
    assert witness.stats.bodies_left_out == {"not JSON by their type": 1}


@pytest.mark.parametrize("propagates", [False, True])
def test_an_exception_reaches_the_host_and_is_reported_as_a_status_only(propagates):
    app = shop(witness := make_witness(hub := Hub()))
    app.config["PROPAGATE_EXCEPTIONS"] = propagates
    if propagates:
        with pytest.raises(RuntimeError, match="on purpose"):
            app.test_client().get("/checkout")
    else:
        assert app.test_client().get("/checkout").status_code == 500
    assert flush_entries(witness, hub)["GET", "/checkout", 500].keys() & {"response", "request"} == set()


def test_an_app_that_raises_while_streaming_is_reported_once_and_its_error_passes_on():
    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", JSON)])
        yield b"["
        raise RuntimeError("on purpose")

    def at_once(environ, start_response):
        start_response("200 OK", [("Content-Type", JSON)])
        raise RuntimeError("on purpose")
        yield b""

    witness = make_witness(hub := Hub())
    for broken in (app, at_once):
        with pytest.raises(RuntimeError, match="on purpose"):
            list(WitnessMiddleware(broken, witness)(environ(), lambda *_: None))
    assert flush_entries(witness, hub).keys() == {("GET", "/orders/{orderId}", 200), ("GET", "/orders/{orderId}", 500)}
    assert witness.stats.observed == 2


@pytest.mark.parametrize(("headers", "status"), [({}, 500), ({"Content-Length": "2"}, 200)])
def test_for_a_settled_shape_only_a_response_with_a_length_is_reported_before_it_is_sent(headers, status):
    """A settled shape had no news for long: most requests are only counted. Without a length the app may still fail."""
    app = flask.Flask(__name__)

    @app.get("/feed")
    def feed():
        breaks = "break" in flask.request.args

        def pieces():
            if breaks:
                raise RuntimeError("on purpose")
            yield b"{}"

        return flask.Response(pieces(), mimetype=JSON, headers=headers)

    app.wsgi_app = WitnessMiddleware(app.wsgi_app, witness := make_witness(hub := Hub()))
    for _ in range(60):
        app.test_client().get("/feed", buffered=True)
        witness.flush()
    assert witness.stats.unlooked > 0
    with pytest.raises(RuntimeError, match="on purpose"):
        app.test_client().get("/feed?break=1", buffered=True)
    assert flush_entries(witness, hub).keys() == {("GET", "/feed", 200), ("GET", "/feed", status)}
    assert witness.stats.observed == 61


def test_a_body_that_the_app_does_not_read_is_not_read_for_it():
    app = shop(witness := make_witness(hub := Hub()))
    body = io.BytesIO(b'{"a":1}')
    assert app.test_client().post("/unread", input_stream=body, content_type=JSON, buffered=True).status_code == 200
    assert body.tell() == 0
    assert "request" not in flush_entries(witness, hub)["POST", "/unread", 200]


@pytest.mark.parametrize("read", [
    lambda source: source.read(),
    lambda source: source.read(7) + source.read(3) + source.read(1000),
    lambda source: source.readline() + source.readline(),
    lambda source: b"".join(source.readlines()),
    lambda source: b"".join(source),
    lambda source: (lambda buffer: bytes(buffer[: source.readinto(buffer)]))(bytearray(100)),
    lambda source: source.read1(100),
    lambda source: b"".join(iter(lambda: source.read(1), b"")),
    lambda source: (source.read(5), source.seek(0), source.read())[2],
])  # fmt: skip
def test_the_witness_sees_a_body_by_whatever_method_it_is_read(read):
    body = b'{"a":\n[1, 2, 3]}'

    def app(environ, start_response):
        assert read(environ["wsgi.input"]) == body
        start_response("204 No Content", [])
        return []

    witness = make_witness(hub := Hub())
    facts = {
        "wsgi.input": io.BytesIO(body),
        "CONTENT_TYPE": JSON,
        "CONTENT_LENGTH": str(len(body)),
        "REQUEST_METHOD": "PUT",
    }
    assert WitnessMiddleware(app, witness)(environ(**facts), lambda *_: None) == []
    assert (
        flush_entries(witness, hub)["PUT", "/orders/{orderId}", 204]["request"]["properties"]["a"]["items"]["seen"] == 3
    )


def test_forms_have_the_names_and_kinds_of_their_fields():
    client = shop(witness := make_witness(hub := Hub())).test_client()
    client.post("/forms", data={"name": "canary", "tags": ["canary", "b"]}, buffered=True)
    upload = {"note": "canary", "file": (io.BytesIO(b"canary" * 200_000), "canary.txt")}
    assert client.post("/forms", data=upload, buffered=True).get_json() == {"sizes": [1_200_000]}
    assert client.post("/unread", data={"a": "canary"}, buffered=True).status_code == 200
    assert witness.flush()
    url_encoded, multipart, unread = sorted(hub.entries, key=lambda entry: (entry["path"], entry["requestMediaType"]))
    assert url_encoded["requestMediaType"] == "application/x-www-form-urlencoded"
    assert list_types(url_encoded["request"]) == {"name": "string", "tags": "array of string"}
    assert multipart["requestMediaType"] == "multipart/form-data"
    assert list_types(multipart["request"]) == {"note": "string", "file": "binary string"}
    assert "request" not in unread
    assert witness.stats.bodies_left_out == {"not seen whole": 1}
    assert b"canary" not in b"".join(hub.bodies)


def test_media_types_are_kept_for_bodies_that_are_not_read():
    client = shop(witness := make_witness(hub := Hub())).test_client()
    client.get("/page")
    client.post("/raw", data=b"canary", content_type="application/x-canary; name=canary")
    client.post("/raw", data=b"1;2", content_type="text/CSV; charset=utf-8")
    client.post("/raw", content_type="text/csv")
    assert witness.flush()
    media_types = {
        (entry["path"], entry.get("requestMediaType"), entry.get("responseMediaType")) for entry in hub.entries
    }
    assert media_types == {
        ("/page", None, "text/html"), ("/raw", None, None),
        ("/raw", "application/*", None), ("/raw", "text/csv", None),
    }  # fmt: skip
    assert b"canary" not in b"".join(hub.bodies)


def serve(app, **facts):
    """Return the bytes that a server writes, with the headers that it derives from the response, without the time."""
    out = io.BytesIO()
    handler = SimpleHandler(io.BytesIO(), out, io.StringIO(), environ(**facts), multithread=False, multiprocess=False)
    handler.run(app)
    return re.sub(rb"Date: .*\r\n", b"", out.getvalue())


class Sized:
    """A response of one chunk that reports its length, as a list does."""

    def __len__(self):
        return 1

    def __iter__(self):
        return iter([b'{"a":1}'])


def writing(start_response):
    write = start_response("200 OK", [("Content-Type", JSON)])
    write(b'{"a"')
    write(b":1}")
    return []


@pytest.mark.parametrize("send_chunks", [
    lambda start: start("200 OK", [("Content-Type", JSON)]) and [b'{"a":1}'],
    lambda start: start("200 OK", [("Content-Type", JSON)]) and (b'{"a"', b":1}"),
    lambda start: start("200 OK", [("Content-Type", JSON)]) and Sized(),
    lambda start: start("200 OK", [("Content-Type", JSON)]) and iter([b'{"a":1}']),
    writing,
], ids=["list", "tuple", "sized", "iterator", "write"])  # fmt: skip
def test_the_server_sends_the_same_bytes_as_without_a_witness(send_chunks):
    def app(environ, start_response):
        return send_chunks(start_response)

    witness = make_witness(hub := Hub())
    assert serve(WitnessMiddleware(app, witness)) == serve(app)
    assert b"200 OK" in serve(app)
    assert "a" in flush_entries(witness, hub)["GET", "/orders/{orderId}", 200]["response"]["properties"]


def test_requests_without_a_route_are_not_observed():
    app = shop(witness := make_witness(hub := Hub()))
    app.add_url_rule("/carts/", view_func=dict, endpoint="carts")
    client = app.test_client()
    assert client.get("/wp-login.php", buffered=True).status_code == 404
    assert client.get("/carts", buffered=True).status_code == 308
    assert client.get("/carts/", buffered=True).status_code == 200
    assert flush_entries(witness, hub).keys() == {("GET", "/carts/", 200)}


def test_a_file_is_left_to_the_server():
    class Wrapper:
        def __init__(self, file):
            self.file = file

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", JSON)])
        return environ["wsgi.file_wrapper"](io.BytesIO(b"{}"))

    witness = make_witness()
    answer = WitnessMiddleware(app, witness)(environ(**{"wsgi.file_wrapper": Wrapper}), lambda *_: None)
    assert isinstance(answer, Wrapper)
    witness.flush()
    assert witness.stats.bodies_left_out == {"not seen whole": 1}


def test_witness_and_signed_intents_work_together():
    app = flask.Flask(__name__)

    @app.post("/accounts/<int:account_id>/orders")
    def order(account_id):
        return {"for": current_intent().sub, "body": flask.request.get_json()}

    witness = make_witness(hub := Hub())
    app.wsgi_app = WitnessMiddleware(IntentMiddleware(app.wsgi_app, make_protection()), witness)
    header = sign_call("POST /accounts/7/orders", {"a": 1})
    facts = {"data": encode_json({"a": 1}), "content_type": JSON, "buffered": True}
    assert (
        app.test_client().post("/accounts/7/orders", **facts, headers={"X-Service-Intent": header}).status_code == 200
    )
    assert app.test_client().post("/accounts/7/orders", **facts).status_code == 403
    entries = flush_entries(witness, hub)
    assert "a" in entries["POST", "/accounts/{account_id}/orders", 200]["request"]["properties"]
    assert "reason" in entries["POST", "/accounts/{accountId}/orders", 403]["response"]["properties"]
    assert header.encode() not in hub.bodies[0]


def test_the_mount_prefix_is_part_of_the_path():
    client = shop(witness := make_witness(hub := Hub())).test_client()
    client.get("/orders/5", base_url="http://localhost/shop", buffered=True)
    assert flush_entries(witness, hub).keys() == {("GET", "/shop/orders/{order_id}", 200)}


def test_the_routes_of_an_app_that_another_mounts_are_not_those_of_the_other():
    dispatcher = pytest.importorskip("werkzeug.middleware.dispatcher")
    front, staff = flask.Flask("front"), flask.Flask("staff")
    for app in (front, staff):
        app.add_url_rule("/users/<int:pk>", "show", lambda pk: {"pk": pk})
    apps = dispatcher.DispatcherMiddleware(front.wsgi_app, {"/api": staff.wsgi_app})
    front.wsgi_app = WitnessMiddleware(apps, witness := make_witness(hub := Hub()))
    client = front.test_client()
    for path in ("/users/1", "/api/users/1", "/api/users/2", "/api/users/3"):
        assert client.get(path, buffered=True).status_code == 200
    entries = flush_entries(witness, hub)
    assert entries["GET", "/users/{pk}", 200]["count"] == 1
    assert entries["GET", "/api/users/{userId}", 200]["count"] == 3


def test_a_prefix_that_a_proxy_names_hides_no_route():
    proxy_fix = pytest.importorskip("werkzeug.middleware.proxy_fix")
    app = flask.Flask("shop")
    app.add_url_rule("/orders/<int:pk>", "show", lambda pk: {"pk": pk})
    witness = make_witness(hub := Hub())
    app.wsgi_app = WitnessMiddleware(proxy_fix.ProxyFix(app.wsgi_app, x_prefix=1), witness)
    app.test_client().get("/orders/5", headers={"X-Forwarded-Prefix": "/shop"}, buffered=True)
    assert flush_entries(witness, hub).keys() == {("GET", "/orders/{pk}", 200)}


def test_no_value_of_a_path_or_a_header_is_reported():
    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", JSON), ("X-Secret", "canary"), ("Set-Cookie", "s=canary")])
        return [b"{}"]

    witness = make_witness(hub := Hub())
    path = "/orders/\xff\xfe canary@example.com"
    WitnessMiddleware(app, witness)(environ(path, HTTP_AUTHORIZATION="canary", HTTP_COOKIE="canary"), lambda *_: None)
    assert flush_entries(witness, hub).keys() == {("GET", "/orders/{orderId}", 200)}
    assert b"canary" not in hub.bodies[0]


@pytest.mark.parametrize(
    "broken", [{"PATH_INFO": None}, {"REQUEST_METHOD": 7}, {"QUERY_STRING": b"x"}, {"CONTENT_TYPE": ""}]
)
def test_a_malformed_environ_breaks_nothing(broken):
    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", JSON)])
        return [b"{}"]

    members = {name: value for name, value in environ(**broken).items() if value is not None}
    assert WitnessMiddleware(app, make_witness())(members, lambda *_: None) == [b"{}"]


@pytest.mark.parametrize("fault", [HUB_AWAY, RuntimeError("on purpose")])
def test_with_an_unreachable_hub_the_host_answers_as_without_a_witness(fault):
    witness = make_witness(Hub(rules_fault=fault))
    client = shop(witness).test_client()
    for number in range(50):
        assert client.get(f"/orders/{number}").get_json()["id"] == number
    witness.flush()
    assert witness.stats.waiting == 50


def test_with_a_hub_that_answers_500_the_host_answers_as_without_a_witness():
    def down(handler):
        handler.send_error(500)

    with ScriptedHub(down) as hub:
        witness = Witness(KEY, base_url=hub.url, timeout=1)
        client = shop(witness).test_client()
        for number in range(50):
            assert client.get(f"/orders/{number}").get_json()["id"] == number
        witness.close(0.1)
        assert json.dumps(witness.stats.dropped) == "50"
