"""How long the hub waits for a provider, how much it reads of an answer, and which certificates it trusts."""

import gzip
import ssl
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from requests import RequestException

from tests.certificates import write_certificate
from workspaces.people.single_sign_on import provider_requests
from workspaces.people.single_sign_on.provider_requests import MAX_BYTES, open_session

BODY = b'{"issuer": "x"}'


class Handler(BaseHTTPRequestHandler):
    """`/slow` sends a byte from time to time, `/large` too many, `/packed` too many in few, `/loop` leads to itself."""

    def do_GET(self):
        self.send_response(302 if self.path == "/loop" else 200)
        if self.path == "/loop":
            self.send_header("Location", "/loop")
        if self.path == "/packed":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        try:
            for piece in self.list_pieces():
                self.wfile.write(piece)
        except OSError:
            pass

    def list_pieces(self):
        match self.path:
            case "/slow":
                for _ in range(100):
                    time.sleep(0.05)
                    yield b" "
            case "/large":
                yield from [b" " * MAX_BYTES] * 20
            case "/packed":
                yield gzip.compress(b" " * 20 * MAX_BYTES)
            case _:
                yield BODY

    def log_message(self, *args):
        pass


@contextmanager
def run_server(context=None):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def get(address):
    with open_session() as session:
        return session.get(address)


def test_an_answer_is_read_whole():
    with run_server() as address:
        answer = get(f"{address}/")
        assert (answer.json(), answer.text, answer.content) == ({"issuer": "x"}, BODY.decode(), BODY)


def test_a_provider_that_sends_a_byte_from_time_to_time_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(provider_requests, "TOTAL_SECONDS", 0.5)
    with run_server() as address:
        start_time = time.monotonic()
        with pytest.raises(RequestException, match="within"):
            get(f"{address}/slow")
        assert time.monotonic() - start_time < 3


@pytest.mark.parametrize("path", ["/large", "/packed", "/loop"])
def test_an_answer_without_an_end_is_refused(path):
    with run_server() as address, pytest.raises(RequestException):
        get(address + path)


def test_the_certificates_of_the_machine_are_trusted(monkeypatch, tmp_path):
    certificate, key = write_certificate(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with run_server(context) as address:
        named_address = address.replace("127.0.0.1", "localhost")
        with pytest.raises(RequestException, match="CERTIFICATE_VERIFY_FAILED"):
            get(named_address)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert get(named_address).content == BODY
        with pytest.raises(RequestException, match="CERTIFICATE_VERIFY_FAILED"):
            get(address)
