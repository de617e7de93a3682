"""No mail server is waited for without end, and a slow one that takes a mail has taken it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from smtplib import SMTPNotSupportedError

import pytest
from django.core.mail import EmailMessage

from wire.mail import smtp
from wire.mail.smtp import EmailBackend, NoAnswerInTime


@contextmanager
def run_server(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Run a mail server for one client; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            connection, _ = server.accept()
            with connection:
                serve(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]


def send(port: int, *, timeout: float) -> int:
    backend = EmailBackend("127.0.0.1", port, timeout=timeout)
    return EmailMessage("Hello", "Text", "hub@example.com", ["ada@example.com"], connection=backend).send()


def greet_one_byte_at_a_time(connection: socket.socket) -> None:
    try:
        while True:
            connection.sendall(b"2")
            time.sleep(0.05)
    except OSError:
        return


def answer(connection: socket.socket, pauses: dict[bytes, float]) -> None:
    """Take one mail, and wait before the answers to lines that begin like this."""
    with connection.makefile("rwb", buffering=0) as lines:
        lines.write(b"220 ready\r\n")
        for line in lines:
            time.sleep(next((seconds for start, seconds in pauses.items() if line.lower().startswith(start)), 0))
            if line.endswith(b"\r\n") and line[:4].lower() in (b"ehlo", b"mail", b"rcpt", b".\r\n"):
                lines.write(b"250 ok\r\n")
            elif line.lower() == b"data\r\n":
                lines.write(b"354 go on\r\n")


def test_a_server_that_sends_a_byte_from_time_to_time_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(smtp, "TOTAL_SECONDS", 0.5)
    started_at = time.monotonic()
    with run_server(greet_one_byte_at_a_time) as port, pytest.raises(NoAnswerInTime):
        send(port, timeout=10)
    assert time.monotonic() - started_at < 5


def test_a_server_that_is_silent_is_not_waited_for():
    with run_server(lambda connection: answer(connection, {b"ehlo": 5})) as port, pytest.raises(NoAnswerInTime):
        send(port, timeout=0.3)


def test_a_server_that_looks_at_the_mail_for_long_has_taken_it():
    with run_server(lambda connection: answer(connection, {b".\r\n": 1.5})) as port:
        assert send(port, timeout=0.5) == 1


def test_a_connection_whose_sign_in_fails_is_closed():
    is_closed = threading.Event()

    def serve(connection: socket.socket) -> None:
        answer(connection, {})
        is_closed.set()

    with run_server(serve) as port:
        backend = EmailBackend("127.0.0.1", port, username="hub", password="wrong", timeout=5)
        with pytest.raises(SMTPNotSupportedError):
            backend.open()
    assert is_closed.wait(5)
