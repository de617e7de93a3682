"""Attacks of a determined stranger on a running hub. Comments name the trick of an attack."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.hub.hub_process import Hub

pytestmark = pytest.mark.xdist_group("whole hub")
EMPTY = b'{"outcomes": []}'
OUTCOMES = "/api/conversation-outcomes"


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["code"])


@pytest.fixture(scope="module", autouse=True)
def _hub_survives(hub: Hub) -> Iterator[None]:
    yield
    assert "Traceback" not in hub.output
    assert hub.request("/readyz")[0] == 200


@pytest.fixture(scope="module")
def workspaces(hub: Hub) -> tuple[dict[str, Any], dict[str, Any]]:
    first, second = (hub.manage("create_workspace", name, "--json", "--full-key") for name in ("Ours", "Theirs"))
    return json.loads(first.stdout), json.loads(second.stdout)


@pytest.fixture(scope="module")
def key(workspaces: Any) -> str:
    return str(workspaces[0]["secretKey"])


def send(hub: Hub, raw: bytes, *, seconds: float = 5) -> list[Answer]:
    """Send these bytes on one connection; return all answers until it closes or stays silent."""
    address = urlsplit(hub.address)
    received = b""
    with socket.create_connection((address.hostname, address.port), timeout=seconds) as connection:
        try:
            connection.sendall(raw)
            connection.settimeout(1.5)
            while piece := connection.recv(65536):
                received += piece
        except (TimeoutError, ConnectionError):
            pass
    return list(read_answers(received))


def read_answers(received: bytes) -> Iterator[Answer]:
    while received.startswith(b"HTTP/"):
        head, _, received = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", 0))
        yield Answer(int(first.split(" ")[1]), headers, received[:length])
        received = received[length:]


def request(
    target: str, *headers: str, method: str = "GET", body: bytes = b"", host: str = "localhost", version: str = "1.1"
) -> bytes:
    lines = [f"{method} {target} HTTP/{version}", *([f"Host: {host}"] if host else []), *headers]
    if body:
        lines += ["Content-Type: application/json"]
        if not any("content-length" in header.lower() or "transfer-enc" in header.lower() for header in headers):
            lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def ask(hub: Hub, target: str, *headers: str, method: str = "GET", body: bytes = b"") -> Answer:
    """Return the only answer to one request. The request asks the hub to close the connection afterwards."""
    (answer,) = send(hub, request(target, *headers, "Connection: close", method=method, body=body))
    return answer


def key_header(key: str) -> str:
    return f"x-service-api-key: {key}"


SMUGGLED = b"0\r\n\r\nGET /healthz?smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "headers",
    [
        (f"Content-Length: {len(SMUGGLED)}", "Transfer-Encoding: chunked"),  # two kinds of length
        ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),  # some servers use the last header
        ("Content-Length: 5", f"Content-Length: {len(SMUGGLED)}"),  # two lengths
        ("Content-Length: 5, 50",),  # two lengths in one header
        ("Content-Length: +5",),
        ("Content-Length: -1",),
        ("Content-Length: 0x10",),
        ("Transfer-Encoding: xchunked",),
        ("Transfer-Encoding : chunked",),  # space before the colon
        ("Transfer-Encoding: chunked\r\n ,identity",),  # a folded header
    ],
)
def test_a_request_with_an_ambiguous_length_is_refused(hub, key, headers):
    answers = send(hub, request(OUTCOMES, key_header(key), *headers, method="POST", body=SMUGGLED))
    assert [answer.status for answer in answers] == [400]


@pytest.mark.parametrize(
    "chunks",
    [
        b"FFFFFFFFFFFFFFFFF\r\nx\r\n0\r\n\r\n",  # a size that overflows
        b"-1\r\nx\r\n0\r\n\r\n",
        b"10\nx\n0\n\n",  # bare line feeds
        b"2;" + b"a" * 100_000 + b"\r\n{}\r\n0\r\n\r\n",  # a long chunk extension
    ],
)
def test_broken_chunks_are_refused_at_once(hub, key, chunks):
    answers = send(hub, request(OUTCOMES, key_header(key), "Transfer-Encoding: chunked", method="POST", body=chunks))
    assert [answer.status for answer in answers] == [400]


def test_a_trailer_field_is_no_header(hub, key):  # the key comes after the body
    body = b"%x\r\n%s\r\n0\r\n%s\r\n\r\n" % (len(EMPTY), EMPTY, key_header(key).encode())
    trailer = ("Transfer-Encoding: chunked", "Trailer: x-service-api-key")
    answer = ask(hub, OUTCOMES, *trailer, method="POST", body=body)
    assert (answer.status, answer.code) == (401, "missing-api-key")


@pytest.mark.parametrize("name", ["x_service_api_key", "X-Service_Api-Key", "HTTP_X_SERVICE_API_KEY"])
def test_a_header_with_underscores_is_not_read_as_one_with_dashes(hub, key, name):
    assert ask(hub, "/api/catalog", f"{name}: {key}").status in (400, 401)


def test_two_keys_in_one_request_are_refused(hub, workspaces):  # one key to authenticate, the other to authorise
    first, second = (key_header(created["secretKey"]) for created in workspaces)
    assert ask(hub, "/api/catalog", first, second).status == 401
    assert ask(hub, "/api/catalog", first, key_header("")).status == 401


@pytest.mark.parametrize("change", [" {}", "{} ", "\t{}"])
def test_white_space_around_a_key_does_not_change_it(hub, key, change):  # HTTP strips white space
    assert ask(hub, "/api/catalog", key_header(change.format(key))).status == 200


def test_a_key_is_case_sensitive_and_read_from_its_header_only(hub, key):
    assert ask(hub, "/api/catalog", key_header(key.upper())).status == 401
    assert ask(hub, f"/api/catalog?x-service-api-key={key}").status == 401
    assert ask(hub, "/api/catalog", f"Authorization: Bearer {key}").status == 401
    assert ask(hub, "/api/catalog", f"Cookie: x-service-api-key={key}").status == 401


ODD_ADDRESSES = [
    "/%00", "/api/%00", "/w/%00/production/overview", "/w/ours/%00/overview", "/w/ours/%ED%A0%80/overview", "/%FF%FE",
    "/api/catalog?environment=%00", "/api/catalog?environment=%ED%A0%80", "/api/catalog?workspace=%00",
    "/w/ours/production/catalog.json?q=%00", "/w/ours/production/catalog.json?method=%00&status=%00&sort=%00",
    "/w/ours/production/drift.json?q=%ED%A0%80", "/w/ours/production/outcome.json?key=%00",
    "/w/ours/production/joins.csv?table=%00", "/w/ours/production/overview.json?tz=../../etc/passwd",
    "/w/ours/production/overview.json?tz=%00", "/w/ours/production/overview.json?from=%00&to=9999-99-99",
    "/w/ours/production/overview.json?from=0001-01-01&to=9999-12-31", "/api/confirmations/%00/decision",
    "/static/../../secret.key", "/static/%2e%2e/%2e%2e/secret.key", "/static/..%2f..%2fsecret.key",
    "/static/..%5c..%5csecret.key", "/static//etc/passwd", "/static/%00", "/api/../healthz/..", "/./healthz",
    "/w/ours/production/overview.json/..", "/w/ours/production/overview;.json", "/%2e%2e/%2e%2e/etc/passwd",
    "/w/ours/production/catalog.json?page=" + "9" * 5000, "/w/ours/production/operation.json?method=GET&path=%00",
]  # fmt: skip


@pytest.mark.parametrize("target", ODD_ADDRESSES)
def test_an_odd_address_is_answered_with_an_error_or_the_page(hub, key, target):  # NUL, surrogates, traversal
    answer = ask(hub, target, key_header(key))
    assert answer.status < 500
    assert b"root:" not in answer.body


@pytest.mark.parametrize(
    "target",
    ["http://evil.example/healthz", "http://localhost/healthz", "//evil.example/healthz", "*", "evil.example:443", "?"],
)
def test_other_forms_of_a_target_redirect_to_no_other_host(hub, target):  # absolute, authority and asterisk form
    for answer in send(hub, request(target, "Connection: close")):
        assert answer.status < 500
        assert "evil.example" not in answer.headers.get("location", "")


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost:80@evil.example", "localhost evil", "[::1", "", "a" * 5000]
)
def test_an_unknown_host_is_refused_and_never_repeated(hub, host):  # a poisoned reset link or cache
    for answer in send(hub, request("/sign-in", "X-Forwarded-Host: evil.example", "Connection: close", host=host)):
        assert answer.status == 400
        assert b"evil" not in answer.body


def test_headers_of_an_untrusted_proxy_are_ignored(hub, key):
    names = ("X-Forwarded-Host", "X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix", "Forwarded", "X-Host")
    spoofed = ("X-Forwarded-Proto: https", *(f"{name}: evil.example" for name in names))
    answer = ask(hub, "/w/ours/production/overview", *spoofed)
    assert answer.status == 302
    assert answer.headers["location"].startswith("/sign-in?next=/w/ours/")
    assert "strict-transport-security" not in answer.headers


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "%2F%2Fevil.example"]
)
def test_signing_in_leads_to_no_other_site(hub, target):  # an open redirect by next=
    answer = ask(hub, f"/sign-in?next={target}")
    assert answer.status < 400
    assert "evil.example" not in answer.headers.get("location", "")
    assert b'href="//evil' not in answer.body
    assert b'action="//evil' not in answer.body


def test_no_other_origin_reads_an_answer(hub, key):  # CORS
    for method in ("GET", "OPTIONS", "POST"):
        headers = ("Origin: https://evil.example", "Access-Control-Request-Method: POST", "Connection: close")
        answer = ask(hub, "/api/catalog", key_header(key), *headers, method=method)
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert answer.status == (200 if method == "GET" else 405)


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_no_header_changes_the_method(hub, key, header):
    answer = ask(hub, "/api/catalog", key_header(key), f"{header}: DELETE")
    assert answer.status == 200
    assert ask(hub, OUTCOMES, key_header(key), f"{header}: POST").status == 405


@pytest.mark.parametrize("method", ["FOO", "A" * 5000, "TRACE", "CONNECT", "PROPFIND"])
def test_an_odd_method_is_refused(hub, key, method):
    for answer in send(hub, request("/api/catalog", key_header(key), "Connection: close", method=method)):
        assert answer.status in range(400, 502)
        assert answer.status != 500
        assert key.encode() not in answer.body  # TRACE echoes


@pytest.mark.parametrize("size", [3_000, 30_000, 300_000])
@pytest.mark.parametrize("location", ["cookie", "header", "path", "query", "key"])
def test_a_huge_header_or_address_is_refused_or_ignored(hub, key, size, location):
    target = {"path": f"/{'a' * size}", "query": f"/healthz?{'a' * size}"}.get(location, "/healthz")
    header = {
        "cookie": f"Cookie: sessionid={'a' * size}",
        "header": f"X-A: {'a' * size}",
        "key": key_header("gak_" + "a" * size),
    }
    for answer in send(hub, request(target, header.get(location, "X-B: b"), "Connection: close")):
        assert answer.status < 500


def test_two_thousand_members_of_a_query_are_refused_or_ignored(hub, key):
    query = "&".join(f"a{number}=1" for number in range(2_000))
    for answer in send(hub, request(f"/w/ours/production/catalog.json?{query}", key_header(key), "Connection: close")):
        assert answer.status < 500


@pytest.mark.parametrize("protocol", ["websocket", "h2c", "TLS/1.0"])
def test_no_upgrade_is_made(hub, key, protocol):
    headers = (f"Upgrade: {protocol}", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__",
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13")  # fmt: skip
    for answer in send(hub, request("/api/catalog", key_header(key), *headers)):
        assert answer.status != 101
        assert answer.status < 500


def test_each_pipelined_request_gets_its_own_answer(hub, workspaces):
    first, second = (key_header(created["secretKey"]) for created in workspaces)
    raw = b"".join(
        request("/api/catalog", header) for header in (first, key_header("gak_x"), second, "Connection: close")
    )
    assert [answer.status for answer in send(hub, raw)] == [200, 401, 200, 401]


def test_the_body_of_a_get_is_not_read_as_the_next_request(hub, key):
    inner = request("/api/catalog", key_header(key))
    answers = send(hub, request("/healthz", f"Content-Length: {len(inner)}") + inner)
    assert [answer.status for answer in answers] == [200]


@pytest.mark.parametrize("value", ["*", '"x"', 'W/"x"', '"' + "x" * 3000 + '"', ",,,,", '"'])
def test_an_etag_does_not_replace_a_key(hub, key, value):  # a 304 would tell strangers that they guessed the catalog
    assert ask(hub, "/api/catalog", f"If-None-Match: {value}").status == 401
    own = ask(hub, "/api/catalog?environment=production", key_header(key), f"If-None-Match: {value}")
    assert own.status == (304 if value == "*" else 200)


def test_an_etag_of_another_workspace_is_never_matched(hub, workspaces):
    ours, theirs = (key_header(created["secretKey"]) for created in workspaces)
    etag = ask(hub, "/api/catalog/openapi.json", ours).headers["etag"]
    assert ask(hub, "/api/catalog/openapi.json", theirs, f"If-None-Match: {etag}").status == 200


@pytest.mark.parametrize(
    "header", ["Range: bytes=0-10", "Range: bytes=-1", "If-Range: x", "Expect: 100-continue", "TE: gzip"]
)
def test_unused_headers_change_nothing(hub, key, header):
    assert ask(hub, "/api/catalog", key_header(key), header).status == 200


@pytest.mark.parametrize("encoding", ["gzip, gzip", "deflate", "br", "gzip;q=1", "x-gzip"])
def test_another_content_encoding_is_refused(hub, key, encoding):
    headers = (key_header(key), f"Content-Encoding: {encoding}")
    answer = ask(hub, OUTCOMES, *headers, method="POST", body=EMPTY)
    assert answer.status == 415


@pytest.mark.parametrize(
    "content", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/plain"]
)
def test_a_form_of_another_site_is_refused(hub, key, content):  # browsers send these types without a preflight
    headers = (f"Content-Type: {content}", f"Content-Length: {len(EMPTY)}", "Connection: close")
    (answer,) = send(hub, request(OUTCOMES, key_header(key), *headers, method="POST") + EMPTY)
    assert answer.status == 415


def test_idempotency_keys_are_separate_by_workspace_and_endpoint(hub, workspaces):
    ours, theirs = (created["secretKey"] for created in workspaces)
    conversation = {"conversations": [{"conversationId": "secret-of-ours"}]}
    headers = {"Idempotency-Key": "same"}
    assert hub.request("/api/conversations", conversation, key=ours, headers=headers)[1]["registered"] == 1
    status, _, answer_headers = hub.request("/api/conversations", conversation, key=theirs, headers=headers)
    assert (status, answer_headers.get("Idempotent-Replayed")) == (200, None)
    status, _, answer_headers = hub.request(OUTCOMES, {"outcomes": []}, key=ours, headers=headers)
    assert (status, answer_headers.get("Idempotent-Replayed")) == (200, None)


def test_the_rows_of_another_workspace_are_not_found(hub, workspaces):
    ours, theirs = (created["secretKey"] for created in workspaces)
    call = {"sub": "u", "operation": "POST /a", "args": {}, "summary": "Order"}
    confirmation = hub.request("/api/confirmations", call, key=ours)[1]["confirmationId"]
    decide = f"/api/confirmations/{confirmation}/decision"
    assert hub.request(decide, {"decision": "confirm"}, key=theirs)[0] == 404
    for address in (
        "/w/ours/production/overview.json",
        "/w/ours/production/catalog.csv",
        "/w/OURS/production/drift.json",
    ):
        assert hub.request(address, key=theirs)[0] == 404
    status, problem, _ = hub.request("/api/catalog?environment=Production", key=theirs)
    assert (status, problem["environments"]) == (400, ["production"])


@pytest.mark.parametrize(
    "cookie", ["sessionid=%00", "sessionid=\xff\xfe", "csrftoken=" + "x" * 3000, "=", ";;;", 'a="']
)
def test_a_malformed_cookie_is_no_session(hub, cookie):
    answer = ask(hub, "/w/ours/production/overview.json", f"Cookie: {cookie}")
    assert answer.status == 401


@pytest.mark.parametrize(
    "target", ["/sign-in", "/healthz", "/api/catalog", "/nowhere", "/w/ours/production/overview.csv"]
)
def test_no_shared_cache_keeps_an_answer(hub, key, target):  # cache poisoning and deception
    for deceit in ("", "/a.css", "%2Fa.css", ";a.css", "?a.css"):
        answer = ask(hub, f"{target}{deceit}", key_header(key))
        assert "private" in answer.headers["cache-control"] or "no-store" in answer.headers["cache-control"]


NO_REQUESTS = [
    b"GET /healthz\r\n\r\n",  # HTTP/0.9
    b"GET /healthz HTTP/1.0\r\n\r\n",
    b"GET /healthz HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
    b"\r\n" * 1000,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",  # HTTP/2 by prior knowledge
]


@pytest.mark.parametrize("raw", NO_REQUESTS)
def test_bytes_that_are_no_http_1_1_request_break_nothing(hub, raw):
    assert not [answer for answer in send(hub, raw) if answer.status >= 500 and answer.status != 505]
    assert hub.request("/healthz")[0] == 200
