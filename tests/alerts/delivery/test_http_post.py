"""A webhook is sent to the address that was checked, within its time limit, and follows no redirect."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import pytest

from alerts.addresses import host_lookup
from alerts.addresses.webhook_address import TargetRefused, parse_webhook_address
from alerts.delivery import http_post
from alerts.delivery.http_post import RequestFailed, post
from tests.certificates import write_certificate


@contextmanager
def listen(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Serve connections to a free port of this machine."""
    server = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                try:
                    serve(connection)
                except OSError:
                    continue

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def read_request(connection: socket.socket) -> None:
    """Read the whole request. Closing a socket with unread data would cut off the answer."""
    received = b""
    while not received.endswith(b"{}") and (part := connection.recv(65536)):
        received += part


@pytest.fixture(autouse=True)
def _private_targets(settings) -> None:
    settings.WEBHOOK_PRIVATE_TARGETS = [ip_network("127.0.0.1")]


def test_the_connection_goes_to_the_address_that_was_checked(receiver, monkeypatch):
    """In DNS rebinding, the name resolves to another address a moment later."""
    port = parse_webhook_address(receiver.url).port
    answers = [["127.0.0.1"], ["127.66.6.6"]]

    def resolve(host: str, *_: object, **__: object) -> list[object]:
        # Python's own connect calls this again, but with an IP address as the host.
        ips = [host] if host[0].isdigit() else answers.pop(0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ips]

    monkeypatch.setattr(host_lookup.socket, "getaddrinfo", resolve)
    assert post(parse_webhook_address(f"http://rebinding.example:{port}/x"), b"{}", {"webhook-id": "1"}).status == 204
    assert answers == [["127.66.6.6"]]
    headers, body = receiver.requests[0]
    assert (headers["host"], headers["webhook-id"], body) == (f"rebinding.example:{port}", "1", b"{}")


def test_a_private_address_is_refused_at_each_delivery(receiver, settings):
    settings.WEBHOOK_PRIVATE_TARGETS = []
    with pytest.raises(TargetRefused):
        post(parse_webhook_address(receiver.url), b"{}", {})
    assert receiver.requests == []


def test_redirects_are_not_followed(receiver):
    receiver.codes = [302, 307, 308]
    receiver.headers = {"Location": receiver.url}
    assert [post(parse_webhook_address(receiver.url), b"{}", {}).status for _ in range(3)] == [302, 307, 308]
    assert len(receiver.requests) == 3


def test_the_body_of_an_answer_is_not_read():
    read_all = threading.Event()

    def serve(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
        for _ in range(1000):
            connection.sendall(b"x" * 1_000_000)
        read_all.set()

    with listen(serve) as port:
        assert post(parse_webhook_address(f"http://127.0.0.1:{port}/"), b"{}", {}).status == 200
    assert not read_all.wait(0.2)


@pytest.mark.parametrize("part", [b"H", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10])
def test_a_receiver_that_answers_byte_by_byte_is_cut_off_at_the_deadline(part, monkeypatch):
    monkeypatch.setattr(http_post, "TOTAL_SECONDS", 0.5)
    stop = threading.Event()

    def serve(connection: socket.socket) -> None:
        while not stop.wait(0.1):
            connection.sendall(part)
            part_of_header = b"Y"
            connection.sendall(part_of_header if part.startswith(b"HTTP/1.1 2") else b"")

    started_at = datetime.now(UTC)
    with listen(serve) as port, pytest.raises(RequestFailed):
        post(parse_webhook_address(f"http://127.0.0.1:{port}/"), b"{}", {})
    stop.set()
    assert datetime.now(UTC) - started_at < timedelta(seconds=5)


def test_an_answer_that_is_cut_off_by_the_deadline_is_a_failure(monkeypatch):
    """Once the timer shuts the socket down, the headers seem to end there, as if the answer were complete."""
    monkeypatch.setattr(http_post, "TOTAL_SECONDS", 0.2)
    shut_down = http_post._shut_down

    def shut_down_and_linger(*arguments) -> None:
        shut_down(*arguments)
        time.sleep(1)

    monkeypatch.setattr(http_post, "_shut_down", shut_down_and_linger)
    stop = threading.Event()

    def serve(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nX: y\r\n")
        stop.wait(5)

    with listen(serve) as port, pytest.raises(RequestFailed, match="no answer within"):
        post(parse_webhook_address(f"http://127.0.0.1:{port}/"), b"{}", {})
    stop.set()


@pytest.mark.parametrize(
    "answer", [b"", b"\x00" * 100, b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 " + b"9" * 70000]
)
def test_an_answer_that_is_not_http_is_a_failure_and_is_not_quoted(answer):
    def serve(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(answer)

    with listen(serve) as port, pytest.raises(RequestFailed) as caught:
        post(parse_webhook_address(f"http://127.0.0.1:{port}/"), b"{}", {})
    assert "SSH" not in str(caught.value)


@pytest.mark.parametrize("interim", [b"102 Processing\r\n", b"103 Early Hints\r\nLink: </a>\r\n"])
def test_the_answer_is_the_one_after_all_interim_ones(interim):
    """RFC 9110, 15.2: a server may send any number of 1xx responses before the final one."""

    def serve(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall((b"HTTP/1.1 " + interim + b"\r\n") * 2)
        connection.sendall(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 20\r\n\r\n")

    with listen(serve) as port:
        assert post(parse_webhook_address(f"http://127.0.0.1:{port}/"), b"{}", {}) == (429, "20")


def test_a_receiver_that_does_not_listen_is_a_failure():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(RequestFailed, match="connection refused"):
        post(parse_webhook_address(f"http://127.0.0.1:{port}/"), b"{}", {})


def test_a_receiver_that_accepts_no_connection_is_said_to_be_out_of_reach(monkeypatch):
    """A server whose backlog is full does not answer the attempt to connect."""
    monkeypatch.setattr(http_post, "CONNECT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as waiting:
        address = server.getsockname()
        for _ in range(3):
            connection = waiting.enter_context(socket.socket())
            connection.setblocking(False)
            connection.connect_ex(address)
        with pytest.raises(RequestFailed, match=r"no connection within 0\.3 s"):
            post(parse_webhook_address(f"http://127.0.0.1:{address[1]}/"), b"{}", {})


def test_the_certificate_is_checked_against_the_name_and_not_the_ip_address(tmp_path, monkeypatch):
    certificate, key = write_certificate(tmp_path, "hooks.example")
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(certificate, key)
    asked_names: list[str | None] = []
    server_context.sni_callback = lambda _, name, __: asked_names.append(name)

    def serve(connection: socket.socket) -> None:
        with server_context.wrap_socket(connection, server_side=True) as tls_socket:
            read_request(tls_socket)
            tls_socket.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    def resolve(host: str, port: int, *_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host if host[0].isdigit() else "127.0.0.1", port))]

    monkeypatch.setattr(host_lookup.socket, "getaddrinfo", resolve)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with listen(serve) as port:
        assert post(parse_webhook_address(f"https://hooks.example:{port}/"), b"{}", {}).status == 204
        with pytest.raises(RequestFailed, match="certificate"):
            post(parse_webhook_address(f"https://other.example:{port}/"), b"{}", {})
    assert asked_names == ["hooks.example", "other.example"]
