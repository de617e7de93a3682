"""The retries of a transport: which requests it sends again, how long it waits, and when it gives up."""

import random
import socket
import time
from email.utils import formatdate
from functools import partial

import pytest
from support.scripted_hub import ScriptedHub, answer, drip, problem, raw, reset, silent

from affidavit._errors import HubUnreachable, ReportError
from affidavit._hub.api_keys import make_key
from affidavit._hub.retries import FOR_A_MINUTE, Retry
from affidavit._hub.transport import HttpTransport

KEY = make_key("gak_")
HEADERS = {"x-service-api-key": KEY, "Idempotency-Key": "one"}


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_after_a_connection_reset_the_same_bytes_and_headers_are_sent_again(open_transport, sleeper):
    with ScriptedHub(reset(), reset(), answer(200, {"ok": 1})) as hub:
        assert open_transport(hub.url).post_json("/x", b'{"n":1}', HEADERS) == {"ok": 1}
    assert [r.body for r in hub.received] == [b'{"n":1}'] * 3
    assert {r.headers["idempotency-key"] for r in hub.received} == {"one"}
    assert len(sleeper.waits) == 2


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_temporary_failure_is_retried(open_transport, status):
    with ScriptedHub(answer(status, b"<html>"), answer(200, {"ok": 1})) as hub:
        assert open_transport(hub.url).post_json("/x", b"{}", HEADERS) == {"ok": 1}
    assert len(hub.received) == 2


def test_the_limit_of_the_random_waits_doubles_up_to_a_maximum(open_transport, sleeper):
    retry = Retry(attempts=6, first=1.0, longest=4.0, total=100.0)
    with ScriptedHub(answer(503)) as hub, pytest.raises(ReportError):
        open_transport(hub.url, retry=retry, chance=lambda: 0.5).post_json("/x", b"{}", HEADERS)
    assert sleeper.waits == [0.5, 1.0, 2.0, 2.0, 2.0]


def test_the_random_waits_neither_follow_nor_move_the_random_numbers_of_the_host(sleeper):
    """Workers that seed them alike would all try again at the same moment, and a seeded host would draw others."""
    for _ in range(2):
        random.seed(7)
        state = random.getstate()
        with ScriptedHub(answer(503), answer(200, {"ok": 1})) as hub:
            HttpTransport(hub.url, sleep=sleeper).post_json("/x", b"{}", HEADERS)
        assert random.getstate() == state
    first, second = sleeper.waits
    assert first != second


def test_the_number_of_tries_is_limited_and_the_last_answer_is_reported(open_transport):
    with ScriptedHub(problem(503, "unavailable", "Send it again later.", requestId="r-1")) as hub:
        with pytest.raises(ReportError, match="Send it again later") as caught:
            open_transport(hub.url, retry=Retry(attempts=3)).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 3
    assert (caught.value.code, caught.value.status, caught.value.request_id) == ("unavailable", 503, "r-1")


def test_the_wait_is_retry_after_in_seconds_plus_jitter(open_transport, sleeper):
    with ScriptedHub(problem(429, "rate-limited", "Slow.", Retry_After="7"), answer(200, {})) as hub:
        open_transport(hub.url, retry=Retry(first=0.5)).post_json("/x", b"{}", HEADERS)
    assert sleeper.waits == [7.5]


def test_retry_after_may_be_a_date(open_transport, sleeper):
    date = formatdate(1_800_000_009, usegmt=True)
    with ScriptedHub(answer(429, Retry_After=date), answer(200, {})) as hub:
        transport = open_transport(hub.url, wall_clock=lambda: 1_800_000_000.0, chance=lambda: 0.0)
        transport.post_json("/x", b"{}", HEADERS)
    assert sleeper.waits == [9.0]


@pytest.mark.parametrize("value", [
    "soon", "-3", "", "²", "Wed, 99 Foo 2026", "1 Jan 99999999999 00:00:00 GMT", formatdate(0, usegmt=True),
])  # fmt: skip
def test_an_invalid_retry_after_costs_only_the_jitter(open_transport, sleeper, value):
    refusal = f"HTTP/1.1 429 No\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n"
    with ScriptedHub(raw(refusal.encode()), answer(200, {})) as hub:
        open_transport(hub.url, retry=Retry(first=0.25)).post_json("/x", b"{}", HEADERS)
    assert sleeper.waits == [0.25]


def test_a_retry_after_beyond_the_deadline_ends_the_retries(open_transport, sleeper):
    with ScriptedHub(problem(429, "rate-limited", "Slow.", Retry_After="3600")) as hub:
        with pytest.raises(ReportError) as caught:
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 1
    assert (caught.value.code, sleeper.waits) == ("rate-limited", [])


def test_an_idempotency_key_in_use_is_retried_after_the_wait(open_transport):
    in_use = problem(409, "idempotency-key-in-use", "Wait.", Retry_After="1")
    with ScriptedHub(in_use, answer(200, {})) as hub:
        open_transport(hub.url).post_json("/x", b"{}", HEADERS)
    assert len(hub.received) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 415, 422])
def test_a_refusal_is_not_retried(open_transport, status):
    with ScriptedHub(problem(status, "some-code", "Do this.")) as hub:
        with pytest.raises(ReportError, match=r"Do this\.") as caught:
            open_transport(hub.url).post_json("/x", b"{}", HEADERS)
        assert len(hub.received) == 1
    assert (caught.value.status, caught.value.code) == (status, "some-code")


def test_a_port_without_a_listener_is_unreachable_after_all_tries(open_transport, sleeper):
    port = unused_port()
    with pytest.raises(HubUnreachable, match=f"127.0.0.1:{port}.*refused") as caught:
        open_transport(f"http://127.0.0.1:{port}").post_json("/x", b"{}", HEADERS)
    assert (caught.value.status, caught.value.was_sent) == (None, False)
    assert len(sleeper.waits) == Retry().attempts - 1


@pytest.mark.parametrize("first", [reset(), answer(503, {}, hang_up=True)])
def test_a_try_that_was_sent_counts_although_the_last_connection_is_refused(open_transport, first):
    with ScriptedHub(first) as hub:
        close = partial(hub.server.socket.shutdown, socket.SHUT_RDWR)
        transport = open_transport(hub.url, retry=Retry(attempts=2), sleep=lambda seconds: close())
        with pytest.raises(HubUnreachable, match="refused") as caught:
            transport.post_json("/x", b"{}", HEADERS)
    assert caught.value.was_sent


def test_a_connection_for_which_no_thread_can_be_started_is_tried_again(open_transport, monkeypatch):
    """So it is with gevent when Python 3.12 ends: its resolver uses threads."""
    connect, failures = socket.create_connection, [RuntimeError("can't create new thread at interpreter shutdown")]

    def connect_at_second_try(*args, **options):
        if failures:
            raise failures.pop()
        return connect(*args, **options)

    monkeypatch.setattr(socket, "create_connection", connect_at_second_try)
    with ScriptedHub(answer(200, {"recorded": 1})) as hub:
        assert open_transport(hub.url).post_json("/x", b"{}", {}) == {"recorded": 1}


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
def test_an_answer_that_is_invalid_http_or_cut_off_is_retried(open_transport, data):
    with ScriptedHub(raw(data), answer(200, {"ok": 1})) as hub:
        assert open_transport(hub.url).post_json("/x", b"{}", HEADERS) == {"ok": 1}


def test_an_endless_answer_is_given_up(open_transport):
    step = raw(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (5 * 1024 * 1024))
    with ScriptedHub(step) as hub, pytest.raises(HubUnreachable):
        open_transport(hub.url, retry=Retry(attempts=1)).post_json("/x", b"{}", HEADERS)
    assert len(hub.received) == 1


@pytest.mark.parametrize(
    "beginning", [b"", b"HTTP/1.1 200 OK\r\nX-Slow:", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"]
)
def test_an_answer_that_trickles_for_ever_is_given_up(open_transport, beginning):
    began = time.monotonic()
    with ScriptedHub(drip(beginning)) as hub, pytest.raises(HubUnreachable, match=r"not complete after 0\.3 s"):
        open_transport(hub.url, longest_answer=0.3, retry=Retry(attempts=1)).post_json("/x", b"{}", HEADERS)
    assert 0.3 <= time.monotonic() - began < 3


def test_an_endless_series_of_interim_answers_is_given_up(open_transport):
    def step(handler):
        while True:
            handler.wfile.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            time.sleep(0.01)

    with ScriptedHub(step) as hub, pytest.raises(HubUnreachable, match=r"not complete after 0\.3 s"):
        open_transport(hub.url, longest_answer=0.3, retry=Retry(attempts=1)).post_json("/x", b"{}", HEADERS)


def test_an_answer_in_time_leaves_the_timeout_of_its_connection(open_transport):
    with ScriptedHub(answer(200, {})) as hub:
        transport = open_transport(hub.url, 5.0, longest_answer=2.0)
        transport.post_json("/x", b"{}", HEADERS)
        assert transport._thread.opened.connection.sock.gettimeout() == 5.0


def test_a_get_has_no_body_and_is_retried_like_a_post(open_transport):
    with ScriptedHub(problem(503, "unavailable", "away"), answer(200, {"rules": []})) as hub:
        assert open_transport(hub.url).get_json("/api/witness-rules?environment=a%20b", HEADERS) == {"rules": []}
    assert [(request.method, request.path, request.body) for request in hub.received] == [
        ("GET", "/api/witness-rules?environment=a%20b", b"")
    ] * 2
    assert "content-type" not in hub.received[0].headers
    assert hub.received[0].headers["x-service-api-key"] == KEY


def test_retries_for_a_minute_end_after_exactly_a_minute(open_transport, sleeper):
    with ScriptedHub(reset()) as hub:
        with pytest.raises(HubUnreachable):
            open_transport(hub.url, retry=FOR_A_MINUTE).post_json("/x", b"{}", HEADERS)
        assert sleeper.clock() == 60.0
        assert len(hub.received) > 7


def test_retries_for_a_minute_do_not_wait_longer_than_a_minute(open_transport, sleeper):
    with ScriptedHub(problem(429, "rate-limited", "No.", Retry_After="61")) as hub:
        with pytest.raises(ReportError):
            open_transport(hub.url, retry=FOR_A_MINUTE).post_json("/x", b"{}", HEADERS)
        assert sleeper.waits == []
