"""EMAIL_URL names a mail server, and whether the connection to it is encrypted."""

from __future__ import annotations

import smtplib
import socket
import threading
from collections.abc import Iterator

import pytest
from django.core.mail import send_mail

from hub.environment_variables import read_email
from hub.local.startup_errors import StartupError

WRONG = (
    "foo", "mail.example.com", "mail.example.com:587", "smtp+tls:/x", "smtp+tls://u:p@", "smtp+tls://h:x",
    "smtp+tls://h:99999", "http://h", "gmail://h", "consolemail://", "smtp://h/path", "smtp+tls://h?tls=0",
    "smtp://mail..example.com", f"smtp://{'h' * 64}.example.com",
)  # fmt: skip


def read(monkeypatch: pytest.MonkeyPatch, address: str) -> tuple[object, ...]:
    monkeypatch.setenv("EMAIL_URL", address)
    email = read_email()
    assert email["EMAIL_BACKEND"].endswith(".smtp.EmailBackend")
    names = ("HOST", "PORT", "HOST_USER", "HOST_PASSWORD", "USE_TLS", "USE_SSL")
    return tuple(email[f"EMAIL_{name}"] for name in names)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("smtp+tls://u:p%40%2F@h:587", ("h", 587, "u", "p@/", True, False)),
        ("smtp+tls://h", ("h", 587, "", "", True, False)),
        ("smtp+ssl://u%40example.com:p@h/", ("h", 465, "u@example.com", "p", False, True)),
        ("smtp://localhost:1025", ("localhost", 1025, "", "", False, False)),
        ("smtp://[::1]", ("::1", 25, "", "", False, False)),
    ],
)
def test_the_scheme_decides_how_the_connection_is_encrypted(monkeypatch, address, expected):
    assert read(monkeypatch, address) == expected


@pytest.mark.parametrize("address", WRONG)
def test_an_address_that_is_no_mail_server_stops_the_start(monkeypatch, address):
    monkeypatch.setenv("EMAIL_URL", address)
    with pytest.raises(StartupError, match="EMAIL_URL: not a mail server"):
        read_email()


def test_a_password_that_cannot_be_sent_stops_the_start(monkeypatch):
    monkeypatch.setenv("EMAIL_URL", "smtp+tls://u:caf%C3%A9@h")
    with pytest.raises(StartupError, match="ASCII") as caught:
        read_email()
    assert "caf" not in str(caught.value)


def test_without_an_address_mail_is_printed(monkeypatch, settings, capsys):
    monkeypatch.delenv("EMAIL_URL", raising=False)
    for name, value in read_email().items():
        setattr(settings, name, value)
    send_mail("An invitation", "The link", "hub@example.com", ["ada@example.com"])
    assert "Subject: An invitation" in capsys.readouterr().out


@pytest.fixture
def plain_server() -> Iterator[tuple[int, list[bytes]]]:
    """Run a mail server without STARTTLS; return its port and the lines that it received."""
    lines: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client, client.makefile("rwb", buffering=0) as stream:
                stream.write(b"220 mail.example.com\r\n")
                for line in stream:
                    lines.append(line)
                    stream.write(
                        b"250-mail.example.com\r\n250 AUTH PLAIN\r\n" if line.startswith(b"ehlo") else b"250 ok\r\n"
                    )

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], lines


def test_no_password_is_sent_to_a_server_that_cannot_encrypt(monkeypatch, settings, plain_server):
    port, lines = plain_server
    monkeypatch.setenv("EMAIL_URL", f"smtp+tls://user:secret@127.0.0.1:{port}")
    for name, value in read_email().items():
        setattr(settings, name, value)
    with pytest.raises(smtplib.SMTPNotSupportedError):
        send_mail("An invitation", "The link", "hub@example.com", ["ada@example.com"])
    assert [line for line in lines if line.upper().startswith((b"AUTH", b"MAIL"))] == []
