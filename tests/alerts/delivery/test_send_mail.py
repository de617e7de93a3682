"""Messages are sent by mail, and a refusal of some or all recipients is reported."""

from __future__ import annotations

import socket
import threading
from email import message_from_bytes
from email.policy import default

import pytest
from django.core import mail
from django.utils import timezone

from alerts.models import Delivery, Event, Target
from tests.alerts.alerts import deliver_due, make_target, queue_tests

NOW = timezone.now()
pytestmark = pytest.mark.django_db


def test_mail_is_sent_through_the_hub_s_server(workspace, settings):
    settings.EMAIL_URL = "smtp://mail.example"
    target, secret = make_target(workspace, "ada@example.com, bob@example.com", Target.EMAIL, "people")
    assert secret == ""
    queue_tests(workspace, target, now=NOW)
    Event.objects.update(title="shop\nSee: https://other.example is silent")  # a reporter may have any name
    deliver_due(now=NOW)
    (message,) = mail.outbox
    title = "shop See: https://other.example is silent"
    assert (message.subject, message.to) == (title, ["ada@example.com", "bob@example.com"])
    assert message.body.splitlines()[0] == title
    assert "Workspace: Lumen Books" in message.body
    assert str(Delivery.objects.get().message_id) in message.extra_headers["Message-ID"]


def test_a_subject_shows_an_encoded_word_in_a_name_as_it_is(workspace, settings):  # mail programs decode it elsewhere
    settings.EMAIL_URL = "smtp://mail.example"
    target, _ = make_target(workspace, "ada@example.com", Target.EMAIL, "people")
    queue_tests(workspace, target, now=NOW)
    Event.objects.update(title="=?utf-8?q?=41=42?= is silent")
    deliver_due(now=NOW)
    (message,) = mail.outbox
    received = message_from_bytes(message.message().as_bytes(), policy=default)
    assert received["Subject"] == "=?utf-8?q?=41=42?= is silent"


def test_without_a_mail_server_the_log_says_so(workspace, settings):
    settings.EMAIL_URL = "smtp://mail.example"
    target, _ = make_target(workspace, "ada@example.com", Target.EMAIL, "people")
    settings.EMAIL_URL = ""
    queue_tests(workspace, target, now=NOW)
    deliver_due(now=NOW)
    assert "EMAIL_URL" in Delivery.objects.get().fault


def send_to_a_server_that_refuses_bob(workspace, settings, recipients):
    settings.EMAIL_URL = "smtp://mail.example"
    settings.EMAIL_BACKEND = "wire.mail.smtp.EmailBackend"
    target, _ = make_target(workspace, recipients, Target.EMAIL, "people")
    queue_tests(workspace, target, now=NOW)
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.getsockname()[:2]
        thread = threading.Thread(target=refuse_bob, args=[server])
        thread.start()
        assert deliver_due(now=NOW) == 1
        thread.join()


def test_a_mail_that_is_refused_for_some_recipients_says_for_which(workspace, settings, browser_client):
    send_to_a_server_that_refuses_bob(workspace, settings, "ada@example.com, bob@example.com")
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.fault) == ("delivered", "the mail server refused bob@example.com (550)")
    for page in ("alerts", "deliveries"):
        text = browser_client.get(f"/w/lumen-books/production/{page}").content.decode()
        assert "the mail server refused bob@example.com (550)" in text


def test_a_mail_that_is_refused_for_all_recipients_says_why(workspace, settings):
    send_to_a_server_that_refuses_bob(workspace, settings, "bob@example.com")
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.code) == ("waiting", 550)
    assert delivery.fault == "the mail server refused bob@example.com (550)"


def refuse_bob(server: socket.socket) -> None:
    """Take one mail, as a mail server does that does not know Bob."""
    connection, _ = server.accept()
    with connection, connection.makefile("rwb", buffering=0) as lines:
        lines.write(b"220 ready\r\n")
        is_content = False
        for line in lines:
            if is_content and line != b".\r\n":
                continue
            is_content = line.lower() == b"data\r\n"
            answer = b"354 go on" if is_content else b"550 unknown" if b"<bob@" in line else b"250 ok"
            lines.write(answer + b"\r\n")
            if line.lower() == b"quit\r\n":
                return


def test_an_answer_that_is_not_smtp_is_a_failed_attempt(workspace, settings):
    settings.EMAIL_URL = "smtp://mail.example"
    settings.EMAIL_BACKEND = "wire.mail.smtp.EmailBackend"
    target, _ = make_target(workspace, "ada@example.com", Target.EMAIL, "people")
    queue_tests(workspace, target, now=NOW)
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.getsockname()[:2]

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        assert deliver_due(now=NOW) == 1
        thread.join()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.code) == ("waiting", 1, None)
    assert delivery.fault == "the mail server's answer is not SMTP"
