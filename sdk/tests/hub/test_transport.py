"""One request to the hub: what a transport sends, and how it treats every answer."""

import gc
import os
import pickle
import socket
import ssl
import threading
import time

import pytest
from support.certificates import write_certificate
from support.scripted_hub import ScriptedHub, answer, problem

from affidavit._errors import AffidavitError, Fault, HubUnreachable, ReportError
from affidavit._hub.api_keys import make_key, require_secret_key
from affidavit._hub.transport import HttpTransport

KEY = make_key("gak_")
HEADERS = {"x-service-api-key": KEY, "Idempotency-Key": "one"}


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


@pytest.mark.parametrize("is_in_thread", [False, True])
def test_a_connection_is_closed_when_its_thread_or_transport_is_gone(recwarn, is_in_thread):
    """Otherwise Python warns of an unclosed socket, which fails the host's tests if warnings are errors there."""
    with ScriptedHub(answer(200, {})) as hub:
        transport = HttpTransport(hub.url)
        if is_in_thread:
            thread = threading.Thread(target=transport.post_json, args=("/x", b"{}", HEADERS))
            thread.start()
            thread.join()
        else:
            transport.post_json("/x", b"{}", HEADERS)
            del transport
        gc.collect()
    assert len(hub.received) == 1
    assert [warning for warning in recwarn if "127.0.0.1" in str(warning.message)] == []


def test_interim_answers_are_passed_over(open_transport):
    def step(handler):
        for interim in (b"102 Processing", b"103 Early Hints\r\nLink: </style.css>; rel=preload"):
            handler.wfile.write(b"HTTP/1.1 " + interim + b"\r\n\r\n")
        answer(200, {"number": len(handler.server.received)})(handler)

    with ScriptedHub(step) as hub:
        transport = open_transport(hub.url)
        answers = [transport.post_json("/x", b"{}", HEADERS) for _ in range(2)]
    assert answers == [{"number": 1}, {"number": 2}]


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


def test_the_faults_and_the_request_id_of_a_refusal_are_reported(open_transport):
    errors = [{"pointer": f"/outcomes/{n}", "code": "required", "detail": "Give it."} for n in range(5)]
    step = problem(400, "invalid-request", "Five faults.", errors=errors, X_Request_Id="r-2")
    with ScriptedHub(step) as hub, pytest.raises(ReportError) as caught:
        open_transport(hub.url).post_json("/x", b"{}", HEADERS)
    assert caught.value.errors[4] == Fault("/outcomes/4", "required", "Give it.")
    assert caught.value.request_id == "r-2"
    assert "/outcomes/0: Give it." in str(caught.value)
    assert "2 more" in str(caught.value)


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"", b"{", b"\xff", b"{} trailing"])
def test_a_200_that_is_not_json_is_an_error(open_transport, body):
    with ScriptedHub(answer(200, body)) as hub, pytest.raises(ReportError) as caught:
        open_transport(hub.url).post_json("/x", b"{}", HEADERS)
    assert caught.value.code == "bad-answer"
    assert len(hub.received) == 1


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b'{"code":1,"detail":null,"errors":{}}', b'{"errors":[{"code":7,"message":"No."}]}', b""]
)
def test_a_refusal_without_a_problem_document_still_says_what_to_do(open_transport, body):
    with ScriptedHub(answer(403, body)) as hub, pytest.raises(ReportError, match="Check the hub's address") as caught:
        open_transport(hub.url).post_json("/x", b"{}", HEADERS)
    assert (caught.value.code, caught.value.errors) == ("http-403", ())


def test_a_redirect_is_not_followed_and_its_target_is_reported_without_its_query(open_transport):
    with ScriptedHub(answer(302, Location="https://hub.example.com/login?token=abc")) as hub:
        with pytest.raises(ReportError, match=r"https://hub\.example\.com/login") as caught:
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 1
    assert caught.value.code == "redirected"
    assert "abc" not in str(caught.value)


def test_a_path_that_the_hub_does_not_have_is_reported_as_a_wrong_address(open_transport):
    missing_page = problem(404, "not-found", "This page does not exist, or you have no access.")
    advice = "without a path such as /api"
    with ScriptedHub(missing_page) as hub, pytest.raises(ReportError, match=advice) as caught:
        open_transport(f"{hub.url}/api").post_json("/api/x", b"{}", HEADERS)
    assert (caught.value.code, caught.value.status) == ("not-found", 404)


def test_a_refusal_during_the_upload_is_reported(open_transport):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

        def refuse():
            peer, _ = listener.accept()
            peer.recv(1000)
            body = b'{"code":"body-too-large","detail":"Send less."}'
            peer.sendall(b"HTTP/1.1 413 No\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            peer.shutdown(socket.SHUT_WR)
            time.sleep(0.1)  # meanwhile the client is still sending
            peer.close()

        thread = threading.Thread(target=refuse)
        thread.start()
        transport = open_transport(f"http://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(ReportError, match="Send less"):
            transport.post_json("/x", b" " * 8_000_000, HEADERS)
        thread.join()


def test_no_error_holds_the_key_even_when_the_answer_repeats_it(open_transport):
    errors = [{"pointer": f"/{KEY}", "code": KEY, "detail": f"bad {KEY}"}]
    step = problem(401, f"invalid-{KEY}", f"Unknown key {KEY}.", errors=errors, requestId=f"for {KEY}")
    with ScriptedHub(step) as hub:
        with pytest.raises(ReportError) as caught:
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 1
    error = caught.value
    assert KEY not in f"{error} {error!r} {error.errors!r} {error.code} {error.request_id}"


def test_an_error_is_one_line_of_bounded_length_whatever_answered(open_transport):
    forged_line = "2026-11-26 root: all is well\x1b[2J"
    errors = [{"pointer": "/outcomes/0", "code": "c", "detail": f"\n{forged_line}"}]
    steps = (
        problem(400, "invalid-request", f"Look.\n{forged_line}", errors=errors),
        problem(400, "invalid-request", "A" * 1_000_000),
        answer(302, Location=f"https://hub.example.com/\r\n {forged_line}"),
    )
    with ScriptedHub(*steps) as hub:
        for _ in steps:
            with pytest.raises(ReportError) as caught:
                open_transport(hub.url).post_json("/x", b"{}", HEADERS)
            assert str(caught.value).isprintable()
            assert len(str(caught.value)) < 20_000


def test_the_error_for_a_mistyped_key_has_only_the_explanation_of_the_hub(open_transport):
    mistyped = KEY[:-1] + ("a" if KEY[-1] != "a" else "b")
    detail = "The key is mistyped or cut off: its check digits do not fit. Copy it again."
    with ScriptedHub(problem(401, "invalid-api-key", detail)) as hub, pytest.raises(ReportError) as refused:
        open_transport(hub.url).post_json("/x", b"{}", {"x-service-api-key": mistyped})
    assert refused.value.detail == detail


def test_a_child_process_opens_its_own_connection_and_does_not_use_its_parents(open_transport):
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


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Return the path of a PEM file with a self-signed certificate for 127.0.0.1 and its key."""
    pytest.importorskip("cryptography.x509", reason="needs the package cryptography")
    return write_certificate(tmp_path_factory.mktemp("tls") / "hub.pem")


def test_https_with_a_trusted_certificate_works_and_keeps_its_connection(open_transport, certificate):
    trusting = ssl.create_default_context(cafile=certificate)
    with ScriptedHub(answer(200, {"ok": 1}), certificate=certificate) as hub:
        transport = open_transport(hub.url, context=trusting)
        for _ in range(2):
            assert transport.post_json("/x", b"{}", HEADERS) == {"ok": 1}
    assert len({request.connection for request in hub.received}) == 1


def test_an_untrusted_certificate_is_refused_at_once(open_transport, sleeper, certificate):
    with ScriptedHub(answer(200, {}), certificate=certificate) as hub:
        with pytest.raises(HubUnreachable, match=r"not trusted .* SSL_CERT_FILE") as caught:
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert "Check that the hub runs" not in str(caught.value)
        assert hub.received == sleeper.waits == []


def test_https_at_the_address_of_a_hub_without_tls_is_named_as_such_at_once(open_transport, sleeper):
    with ScriptedHub(answer(200, {})) as hub:
        with pytest.raises(HubUnreachable, match=r"without TLS begins with http://") as caught:
            open_transport(hub.url.replace("http:", "https:")).post_json("/x", b"{}", HEADERS)
        assert "Check that the hub runs" not in str(caught.value)
        assert not caught.value.was_sent
        assert sleeper.waits == []


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
def test_an_impossible_key_is_refused_without_being_repeated(key, code):
    with pytest.raises(ReportError) as caught:
        require_secret_key(key)
    assert caught.value.code == code
    assert not key or key.strip() not in str(caught.value)


def test_an_error_survives_pickling():
    error = ReportError("Do this.", code="c", status=400, errors=[Fault("/a", "b", "c")], sent=3)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.errors, again.sent) == (str(error), error.errors, 3)
    assert isinstance(again, AffidavitError)
