"""The doctor sees a mail server that does not answer or refuses the sign-in, and a password that is not encrypted."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from hub.doctor.mail_server import check_mail_server, sends_password_unencrypted
from hub.environment_variables import read_email
from tests.certificates import write_certificate

SMTP = "wire.mail.smtp.EmailBackend"


@pytest.fixture
def mail_server() -> Iterator[int]:
    """Run a mail server that answers one client and offers no sign-in; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client, client.makefile("rwb", buffering=0) as stream:
                stream.write(b"220 mail.example.com\r\n")
                for line in stream:
                    stream.write(b"221 bye\r\n" if line.startswith(b"quit") else b"250 mail.example.com\r\n")

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


def test_without_a_mail_server_nothing_is_connected(settings):
    settings.EMAIL_URL, settings.EMAIL_BACKEND = "", SMTP
    assert check_mail_server().state == "ok"


def test_a_mail_server_that_answers_is_fine(settings, mail_server):
    settings.EMAIL_URL, settings.EMAIL_BACKEND = "smtp://127.0.0.1", SMTP
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mail_server
    assert check_mail_server().state == "ok"


def test_a_mail_server_that_does_not_answer_is_wrong(settings):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings.EMAIL_URL, settings.EMAIL_BACKEND = "smtp://127.0.0.1", SMTP
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    result = check_mail_server()
    assert (result.state, f"127.0.0.1:{port}" in result.detail, "EMAIL_URL" in result.cure) == ("wrong", True, True)


def test_a_mail_server_that_refuses_the_sign_in_is_wrong(settings, mail_server):
    settings.EMAIL_URL, settings.EMAIL_BACKEND = "smtp://u:p@127.0.0.1", SMTP
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mail_server
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "u", "p"
    assert check_mail_server().state == "wrong"


def test_a_certificate_of_an_own_authority_is_named_with_its_cure(settings, monkeypatch, tmp_path):
    certificate, key = write_certificate(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def serve() -> None:
        for _ in range(2):
            client, _ = server.accept()
            with client, suppress(OSError), context.wrap_socket(client, server_side=True) as stream:
                stream.sendall(b"220 ready\r\n")
                stream.recv(100)

    settings.EMAIL_URL, settings.EMAIL_BACKEND, settings.EMAIL_USE_SSL = "smtp+ssl://localhost", SMTP, True
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        settings.EMAIL_HOST, settings.EMAIL_PORT = "localhost", server.getsockname()[1]
        result = check_mail_server()
        assert (result.state, "SSL_CERT_FILE" in result.cure) == ("wrong", True)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert check_mail_server().state == "ok"


@pytest.mark.parametrize(
    ("host", "scheme", "is_sent"),
    [
        ("mail.example.com", "smtp", True),
        ("mail.example.com", "smtp+tls", False),
        ("mail.example.com", "smtp+ssl", False),
        ("localhost", "smtp", False),
    ],
)
def test_a_password_leaves_this_machine_only_if_it_is_encrypted(settings, monkeypatch, host, scheme, is_sent):
    monkeypatch.setenv("EMAIL_URL", f"{scheme}://user:secret@{host}")
    for name, value in read_email().items():
        setattr(settings, name, value)
    assert sends_password_unencrypted() is is_sent


def test_a_password_that_would_be_sent_unencrypted_is_named_and_not_sent(settings, monkeypatch):
    settings.EMAIL_URL = "smtp://user:secret@mail.example.com"
    settings.EMAIL_HOST, settings.EMAIL_HOST_PASSWORD, settings.EMAIL_USE_TLS = "mail.example.com", "secret", False
    monkeypatch.setattr("hub.doctor.mail_server.get_connection", lambda: pytest.fail("the doctor signs in"))
    result = check_mail_server()
    assert (result.state, "secret" in result.detail, "smtp+tls://" in result.cure) == ("wrong", False, True)
