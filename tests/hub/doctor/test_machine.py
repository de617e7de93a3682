"""The doctor sees a full disk, static files that are missing or old, and a mail server that does not answer."""

from __future__ import annotations

import socket
import threading
from collections import namedtuple
from collections.abc import Iterator

import pytest
from amqp.exceptions import ChannelError

from hub.doctor import machine
from hub.doctor.checks import Check, run_checks
from hub.doctor.machine import check_disk, check_email, check_static_files
from hub.doctor.result import Result
from hub.local import compressed_static_files

SMTP = "django.core.mail.backends.smtp.EmailBackend"


def test_a_disk_that_is_nearly_full_is_wrong(monkeypatch):
    assert check_disk().state == "ok"
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda path: usage(100, 99, 1024 * 1024 * 1023))
    assert check_disk().state == "wrong"
    assert "1,023 MiB" in check_disk().detail


def test_a_check_that_fails_in_an_unknown_way_does_not_keep_the_others_from_running():
    def fail() -> Result:
        raise ChannelError("Cannot open a file")

    checks = [Check("broker", fail), Check("worker", check_disk, needs="broker"), Check("disk", check_disk)]
    results = dict(run_checks(checks))
    assert [result.state for result in results.values()] == ["wrong", "skipped", "ok"]
    assert "ChannelError" in results["broker"].detail


def test_missing_and_old_static_files_are_found(settings, tmp_path):
    settings.STATIC_ROOT = root = tmp_path / "static.dist"
    assert "build_static" in check_static_files().cure
    compressed_static_files.build()
    assert check_static_files().state == "ok"
    script = next(root.glob("plotly/plotly-basic.min.*.js"))
    script.unlink()
    assert (check_static_files().state, script.name in check_static_files().detail) == ("wrong", True)
    script.touch()
    (root / compressed_static_files.STAMP).write_text("of an earlier version")
    assert check_static_files().state == "wrong"


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
    assert check_email().state == "ok"


def test_a_mail_server_that_answers_is_fine(settings, mail_server):
    settings.EMAIL_URL, settings.EMAIL_BACKEND = "smtp://127.0.0.1", SMTP
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mail_server
    assert check_email().state == "ok"


def test_a_mail_server_that_does_not_answer_is_wrong(settings):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings.EMAIL_URL, settings.EMAIL_BACKEND = "smtp://127.0.0.1", SMTP
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    result = check_email()
    assert (result.state, f"127.0.0.1:{port}" in result.detail, "EMAIL_URL" in result.cure) == ("wrong", True, True)


def test_a_mail_server_that_refuses_the_sign_in_is_wrong(settings, mail_server):
    settings.EMAIL_URL, settings.EMAIL_BACKEND = "smtp://u:p@127.0.0.1", SMTP
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mail_server
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "u", "p"
    assert check_email().state == "wrong"
