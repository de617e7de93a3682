import importlib
import os
import pickle
import socket
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from ipaddress import ip_address

import pytest
from scripted_hub import ScriptedHub, answer, problem, raw, reset, silent

from affidavit._errors import AffidavitError, Fault, HubUnreachable, ReportError
from affidavit._hub.api_keys import make_key, require_secret_key
from affidavit._hub.transport import HttpTransport, Retry

KEY = make_key("gak_")
HEADERS = {"x-service-api-key": KEY, "Idempotency-Key": "one"}


class Sleeper:
    """Records the waits in place of waiting; the clock it drives runs on by them."""

    def __init__(self):
        self.waits = []

    def __call__(self, seconds):
        self.waits.append(seconds)

    def clock(self):
        return sum(self.waits)


@pytest.fixture
def sleeper():
    return Sleeper()


@pytest.fixture
def open_transport(sleeper):
    opened = []

    def open_(base_url, timeout=5.0, **options):
        defaults = {"sleep": sleeper, "clock": sleeper.clock, "chance": lambda: 1.0}
        opened.append(HttpTransport(base_url, timeout, **{**defaults, **options}))
        return opened[-1]

    yield open_
    for transport in opened:
        transport.close()


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_body_headers_and_path_arrive_as_given_and_the_answer_comes_back(open_transport):
    with ScriptedHub(answer(202, {"accepted": 1})) as hub:
        assert open_transport(hub.url).post_json("/api/x", b'{"a":1}', HEADERS) == {"accepted": 1}
    (request,) = hub.received
    assert (request.path, request.body) == ("/api/x", b'{"a":1}')
    assert request.headers["x-service-api-key"] == KEY
    assert request.headers["content-type"] == "application/json"
    assert request.headers["idempotency-key"] == "one"


@pytest.mark.parametrize("suffix", ["/hub", "/hub/", "/hub//"])
def test_a_path_prefix_of_the_base_url_is_kept_with_or_without_a_slash_at_its_end(open_transport, suffix):
    with ScriptedHub(answer(200, {})) as hub:
        open_transport(hub.url + suffix).post_json("/api/x", b"{}", HEADERS)
    assert hub.received[0].path == "/hub/api/x"


def test_several_calls_share_one_connection(open_transport):
    with ScriptedHub(answer(200, {})) as hub:
        transport = open_transport(hub.url)
        for _ in range(3):
            transport.post_json("/x", b"{}", HEADERS)
    assert len({request.connection for request in hub.received}) == 1


def test_an_error_answer_leaves_the_connection_usable(open_transport):
    with ScriptedHub(problem(400, "invalid-request", "Look."), answer(200, {})) as hub:
        transport = open_transport(hub.url)
        with pytest.raises(ReportError):
            transport.post_json("/x", b"{}", HEADERS)
        transport.post_json("/x", b"{}", HEADERS)
    assert len({request.connection for request in hub.received}) == 1


def test_a_kept_connection_that_the_hub_has_closed_is_replaced_at_once(open_transport, sleeper):
    with ScriptedHub(answer(200, {}, hang_up=True)) as hub:
        transport = open_transport(hub.url)
        transport.post_json("/x", b"{}", HEADERS)
        time.sleep(0.05)
        transport.post_json("/x", b"{}", HEADERS)
    assert len(hub.received) == 2
    assert sleeper.waits == []


def test_a_reset_is_tried_again_with_the_same_bytes_and_headers(open_transport, sleeper):
    with ScriptedHub(reset(), reset(), answer(200, {"ok": 1})) as hub:
        assert open_transport(hub.url).post_json("/x", b'{"n":1}', HEADERS) == {"ok": 1}
    assert [r.body for r in hub.received] == [b'{"n":1}'] * 3
    assert {r.headers["idempotency-key"] for r in hub.received} == {"one"}
    assert len(sleeper.waits) == 2


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_passing_failure_is_tried_again(open_transport, status):
    with ScriptedHub(answer(status, b"<html>"), answer(200, {"ok": 1})) as hub:
        assert open_transport(hub.url).post_json("/x", b"{}", HEADERS) == {"ok": 1}
    assert len(hub.received) == 2


def test_waits_are_random_up_to_a_bound_that_doubles_and_then_stays(open_transport, sleeper):
    retry = Retry(attempts=6, first=1.0, longest=4.0, total=100.0)
    with ScriptedHub(answer(503)) as hub, pytest.raises(ReportError):
        open_transport(hub.url, retry=retry, chance=lambda: 0.5).post_json("/x", b"{}", HEADERS)
    assert sleeper.waits == [0.5, 1.0, 2.0, 2.0, 2.0]


def test_tries_are_bounded_and_the_last_answer_is_told(open_transport):
    with ScriptedHub(problem(503, "unavailable", "Send it again later.", requestId="r-1")) as hub:
        with pytest.raises(ReportError, match="Send it again later") as caught:
            open_transport(hub.url, retry=Retry(attempts=3)).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 3
    assert (caught.value.code, caught.value.status, caught.value.request_id) == ("unavailable", 503, "r-1")


def test_retry_after_in_seconds_is_waited_for_and_jitter_comes_on_top(open_transport, sleeper):
    with ScriptedHub(problem(429, "rate-limited", "Slow.", Retry_After="7"), answer(200, {})) as hub:
        open_transport(hub.url, retry=Retry(first=0.5)).post_json("/x", b"{}", HEADERS)
    assert sleeper.waits == [7.5]


def test_retry_after_as_a_date_is_waited_for(open_transport, sleeper):
    date = formatdate(1_800_000_009, usegmt=True)
    with ScriptedHub(answer(429, Retry_After=date), answer(200, {})) as hub:
        transport = open_transport(hub.url, wall_clock=lambda: 1_800_000_000.0, chance=lambda: 0.0)
        transport.post_json("/x", b"{}", HEADERS)
    assert sleeper.waits == [9.0]


@pytest.mark.parametrize("value", ["soon", "-3", "", "²", "Wed, 99 Foo 2026", formatdate(0, usegmt=True)])
def test_a_retry_after_that_says_nothing_costs_only_the_jitter(open_transport, sleeper, value):
    refusal = f"HTTP/1.1 429 No\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n"
    with ScriptedHub(raw(refusal.encode()), answer(200, {})) as hub:
        open_transport(hub.url, retry=Retry(first=0.25)).post_json("/x", b"{}", HEADERS)
    assert sleeper.waits == [0.25]


def test_a_retry_after_beyond_the_deadline_is_not_waited_for(open_transport, sleeper):
    with ScriptedHub(problem(429, "rate-limited", "Slow.", Retry_After="3600")) as hub:
        with pytest.raises(ReportError) as caught:
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 1
    assert (caught.value.code, sleeper.waits) == ("rate-limited", [])


def test_an_earlier_try_still_at_work_is_waited_for(open_transport):
    in_use = problem(409, "idempotency-key-in-use", "Wait.", Retry_After="1")
    with ScriptedHub(in_use, answer(200, {})) as hub:
        open_transport(hub.url).post_json("/x", b"{}", HEADERS)
    assert len(hub.received) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 415, 422])
def test_a_refusal_is_not_tried_again(open_transport, status):
    with ScriptedHub(problem(status, "some-code", "Do this.")) as hub:
        with pytest.raises(ReportError, match=r"Do this\.") as caught:
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 1
    assert (caught.value.status, caught.value.code) == (status, "some-code")


def test_the_faults_and_the_request_id_of_a_refusal_are_told(open_transport):
    errors = [{"pointer": f"/outcomes/{n}", "code": "required", "detail": "Give it."} for n in range(5)]
    step = problem(400, "invalid-request", "Five faults.", errors=errors, X_Request_Id="r-2")
    with ScriptedHub(step) as hub, pytest.raises(ReportError) as caught:
        open_transport(hub.url).post_json("/x", b"{}", HEADERS)
    assert caught.value.errors[4] == Fault("/outcomes/4", "required", "Give it.")
    assert caught.value.request_id == "r-2"
    assert "/outcomes/0: Give it." in str(caught.value)
    assert "2 more" in str(caught.value)


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"", b"{", b"\xff", b"{} trailing"])
def test_a_success_that_is_not_json_is_not_taken_for_one(open_transport, body):
    with ScriptedHub(answer(200, body)) as hub, pytest.raises(ReportError) as caught:
        open_transport(hub.url).post_json("/x", b"{}", HEADERS)
    assert caught.value.code == "bad-answer"
    assert len(hub.received) == 1


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"code":1,"detail":null,"errors":{}}', b""])
def test_a_refusal_without_a_problem_document_still_says_what_to_do(open_transport, body):
    with ScriptedHub(answer(403, body)) as hub, pytest.raises(ReportError, match="Check base_url") as caught:
        open_transport(hub.url).post_json("/x", b"{}", HEADERS)
    assert caught.value.code == "http-403"


def test_a_redirect_is_not_followed_and_its_target_is_told_without_its_query(open_transport):
    with ScriptedHub(answer(302, Location="https://hub.example.com/login?token=abc")) as hub:
        with pytest.raises(ReportError, match=r"https://hub\.example\.com/login") as caught:
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 1
    assert caught.value.code == "redirected"
    assert "abc" not in str(caught.value)


def test_no_listener_is_unreachable_after_all_tries(open_transport, sleeper):
    port = unused_port()
    with pytest.raises(HubUnreachable, match=f"127.0.0.1:{port}.*refused") as caught:
        open_transport(f"http://127.0.0.1:{port}").post_json("/x", b"{}", HEADERS)
    assert caught.value.status is None
    assert len(sleeper.waits) == Retry().attempts - 1


def test_a_silent_hub_is_unreachable_after_the_timeout(open_transport):
    with ScriptedHub(silent(0.5)) as hub, pytest.raises(HubUnreachable, match=r"nothing came for 0\.1 s"):
        open_transport(hub.url, 0.1, retry=Retry(attempts=2)).post_json("/x", b"{}", HEADERS)
    assert len(hub.received) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}",
    ],
)
def test_an_answer_that_is_no_http_or_cut_off_is_tried_again(open_transport, data):
    with ScriptedHub(raw(data), answer(200, {"ok": 1})) as hub:
        assert open_transport(hub.url).post_json("/x", b"{}", HEADERS) == {"ok": 1}


def test_an_answer_without_end_is_given_up(open_transport):
    step = raw(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (5 * 1024 * 1024))
    with ScriptedHub(step) as hub, pytest.raises(HubUnreachable):
        open_transport(hub.url, retry=Retry(attempts=1)).post_json("/x", b"{}", HEADERS)
    assert len(hub.received) == 1


def test_a_refusal_that_comes_before_all_was_sent_is_told(open_transport):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

        def refuse():
            peer, _ = listener.accept()
            peer.recv(1000)
            body = b'{"code":"body-too-large","detail":"Send less."}'
            peer.sendall(b"HTTP/1.1 413 No\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            peer.shutdown(socket.SHUT_WR)
            time.sleep(0.1)  # the client is still sending
            peer.close()

        thread = threading.Thread(target=refuse)
        thread.start()
        transport = open_transport(f"http://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(ReportError, match="Send less"):
            transport.post_json("/x", b" " * 8_000_000, HEADERS)
        thread.join()


def test_no_error_holds_the_key_even_when_the_answer_repeats_it(open_transport):
    errors = [{"pointer": "", "code": "c", "detail": f"bad {KEY}"}]
    with ScriptedHub(problem(401, "invalid-api-key", f"Unknown key {KEY}.", errors=errors)) as hub:
        with pytest.raises(ReportError) as caught:
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 1
    assert KEY not in str(caught.value) + repr(caught.value) + repr(caught.value.errors)


def test_what_the_hub_says_of_a_mistyped_key_is_said_once(open_transport):
    mistyped = KEY[:-1] + ("a" if KEY[-1] != "a" else "b")
    detail = "The key is mistyped or cut off: its check digits do not fit. Copy it again."
    with ScriptedHub(problem(401, "invalid-api-key", detail)) as hub, pytest.raises(ReportError) as refused:
        open_transport(hub.url).post_json("/x", b"{}", {"x-service-api-key": mistyped})
    assert refused.value.detail == detail


def test_a_child_process_opens_its_own_connection_and_leaves_the_parents_alone(open_transport):
    with ScriptedHub(answer(200, {})) as hub:
        transport = open_transport(hub.url)
        transport.post_json("/x", b"{}", HEADERS)
        child = os.fork()
        if child == 0:
            try:
                transport.post_json("/x", b"{}", HEADERS)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        transport.post_json("/x", b"{}", HEADERS)
    parent, forked, parent_again = (request.connection for request in hub.received)
    assert parent == parent_again != forked


def test_threads_do_not_share_a_connection(open_transport):
    with ScriptedHub(answer(200, {})) as hub:
        transport = open_transport(hub.url)

        def post_twice():
            for _ in range(2):
                transport.post_json("/x", b"{}", HEADERS)
            transport.close()

        threads = [threading.Thread(target=post_twice) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(hub.received) == 8
    assert len({request.connection for request in hub.received}) == 4


@pytest.mark.parametrize(
    "base_url",
    ["", "hub.example.com", "ftp://hub", "http://", "http://u:p@hub", "http://hub?x=1", "http://hub:99999",
     "http://hub:x", "http://[::1", "http://hüb", "http://hub#x", None, 5],
)  # fmt: skip
def test_what_is_no_address_is_refused_at_once(base_url):
    with pytest.raises(ReportError) as caught:
        HttpTransport(base_url)
    assert caught.value.code == "invalid-base-url"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Path of a PEM file: a self-signed certificate for 127.0.0.1 and its key."""
    x509 = pytest.importorskip("cryptography.x509", reason="needs the package cryptography")
    ec = importlib.import_module("cryptography.hazmat.primitives.asymmetric.ec")
    hashes = importlib.import_module("cryptography.hazmat.primitives.hashes")
    serialization = importlib.import_module("cryptography.hazmat.primitives.serialization")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "hub")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "hub.pem"
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(private + signed.public_bytes(pem))
    return path


def test_https_with_a_trusted_certificate_works_and_keeps_its_connection(open_transport, certificate):
    trusting = ssl.create_default_context(cafile=certificate)
    with ScriptedHub(answer(200, {"ok": 1}), certificate=certificate) as hub:
        transport = open_transport(hub.url, context=trusting)
        for _ in range(2):
            assert transport.post_json("/x", b"{}", HEADERS) == {"ok": 1}
    assert len({request.connection for request in hub.received}) == 1


def test_a_certificate_that_nobody_vouches_for_is_refused_at_once(open_transport, sleeper, certificate):
    with ScriptedHub(answer(200, {}), certificate=certificate) as hub:
        with pytest.raises(HubUnreachable, match="not trusted"):
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert hub.received == sleeper.waits == []


@pytest.mark.parametrize(
    ("key", "code"),
    [
        (None, "missing-api-key"),
        ("", "missing-api-key"),
        (make_key("pk_"), "publishable-key-refused"),
        (KEY + "\n", "invalid-api-key"),
        (KEY + " ", "invalid-api-key"),
        ("gak_ключ", "invalid-api-key"),
    ],
    ids=["none", "empty", "publishable", "newline", "space", "letters"],
)
def test_a_key_that_cannot_be_right_is_refused_without_being_repeated(key, code):
    with pytest.raises(ReportError) as caught:
        require_secret_key(key)
    assert caught.value.code == code
    assert not key or key.strip() not in str(caught.value)


def test_an_error_survives_pickling():
    error = ReportError("Do this.", code="c", status=400, errors=[Fault("/a", "b", "c")], sent=3)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.errors, again.sent) == (str(error), error.errors, 3)
    assert isinstance(again, AffidavitError)


def test_a_get_has_no_body_and_is_tried_again_like_any_other(open_transport):
    with ScriptedHub(problem(503, "unavailable", "away"), answer(200, {"rules": []})) as hub:
        assert open_transport(hub.url).get_json("/api/witness-rules?environment=a%20b", HEADERS) == {"rules": []}
    assert [(request.method, request.path, request.body) for request in hub.received] == [
        ("GET", "/api/witness-rules?environment=a%20b", b"")
    ] * 2
    assert "content-type" not in hub.received[0].headers
    assert hub.received[0].headers["x-service-api-key"] == KEY
