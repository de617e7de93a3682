"""No log line contains a key, secret or token, whatever logger wrote it. Each record is one line of limited length."""

from __future__ import annotations

import json
import logging
import os
import secrets
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import warnings
from base64 import urlsafe_b64encode

import pytest
from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction
from django.middleware.csrf import _get_new_csrf_string, _mask_cipher_secret
from django.test import Client
from django.utils.crypto import get_random_string
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg.errors import AdminShutdown

from affidavit import make_key
from hub.telemetry.logs import MAX_MESSAGE, JsonFormatter, log_uncaught_errors
from hub.telemetry.secret_patterns import cut_secrets
from hub.web.server_options import SERVER_LOGS
from tests.hub.hub_process import free_port
from wire.http.problems import find_cause
from wire.request_context import current_request_id

INTENT = json.dumps({"payload": json.dumps({"tenantId": "ws_1", "sub": "user_1"}), "signature": "0" * 64})
MAKERS = {
    "secret key": lambda: make_key("gak_"),
    "publishable key": lambda: make_key("pk_"),
    "signing secret": lambda: f"gas_{secrets.token_urlsafe(32)}",
    "webhook secret": lambda: f"whsec_{urlsafe_b64encode(secrets.token_bytes(24)).decode()}",
    "sign-in token": lambda: secrets.token_urlsafe(32),
    "session key": lambda: get_random_string(32, "abcdefghijklmnopqrstuvwxyz0123456789"),
    "CSRF token": lambda: _mask_cipher_secret(_get_new_csrf_string()),
    "CSRF cookie": _get_new_csrf_string,
    "intent": lambda: urlsafe_b64encode(INTENT.encode()).decode().rstrip("="),
    "password in an address": lambda: f"postgresql://hub:{secrets.token_hex(5)}@db.example.com/hub",
    "basic authorization": lambda: f"Authorization: Basic {secrets.token_hex(6)}",
    "short link": lambda: f"/sign-in/{secrets.token_hex(5)}",
    "invitation": lambda: f"/invitations/{secrets.token_hex(5)}",
    "shared link": lambda: f"/shared/{secrets.token_hex(5)}",
    "form": lambda: f"username=ann&password={secrets.token_hex(5)}&x=1",
    "passphrase": lambda: f"passphrase={secrets.token_hex(5)}",
    "header": lambda: f"'x-service-intent': '{secrets.token_hex(6)}'",
    "dictionary": lambda: f"{{'csrfmiddlewaretoken': '{secrets.token_hex(6)}'}}",
}
# Texts of each kind, new each time. Only the random part of a text is secret.
SECRETS = st.sampled_from(sorted(MAKERS)).map(lambda kind: MAKERS[kind]())
TEXT = st.text(max_size=30)
ENDS = {
    "hub:": "@", "Basic ": "", "/sign-in/": "", "/invitations/": "", "/shared/": "", "password=": "&",
    "passphrase=": "", "': '": "'",
}  # fmt: skip
formatter = JsonFormatter()


def random_part(secret: str) -> str:
    """Return the random part of a planted text, which must not be printed."""
    for before, after in ENDS.items():
        if before in secret:
            rest = secret.split(before)[1]
            return rest.split(after)[0] if after else rest
    return secret.removeprefix("gak_").removeprefix("pk_").removeprefix("gas_").removeprefix("whsec_")


def make_record(message: object, *arguments: object, exc_info: object = None) -> logging.LogRecord:
    return logging.LogRecord("any.logger", logging.WARNING, __file__, 1, message, arguments, exc_info)


@given(secret=SECRETS, before=TEXT, after=TEXT, place=st.sampled_from(["message", "argument", "mapping", "list", "id"]))
def test_no_planted_secret_is_printed(secret, before, after, place):
    text = f"{before} {secret} {after}"
    record = {
        "message": lambda: make_record(text.replace("%", "%%") if "%" in text else text),
        "argument": lambda: make_record("it failed: %s at %r", text, secret),
        "mapping": lambda: make_record("it failed: %s", {"value": text}),
        "list": lambda: make_record("it failed: %r", [secret, text]),
        "id": lambda: make_record("it failed"),
    }[place]()
    token = current_request_id.set(text if place == "id" else "")
    try:
        line = formatter.format(record)
    finally:
        current_request_id.reset(token)
    assert random_part(secret) not in line
    assert len(line.splitlines()) == 1
    json.loads(line)


@given(secret=SECRETS)
def test_the_text_of_an_exception_is_not_printed(secret):
    def fail() -> None:
        raise ValueError(secret)

    try:
        fail()
    except ValueError:
        line = formatter.format(make_record("it failed", exc_info=sys.exc_info()))
    assert random_part(secret) not in line
    assert json.loads(line)["exception"][0] == "ValueError"
    assert "in fail" in line


def test_errors_of_threads_and_warnings_are_lines_like_every_other(monkeypatch, caplog, capfd):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    log_uncaught_errors()
    try:
        thread = threading.Thread(target=int, args=["a value"])
        thread.start()
        thread.join()
        warnings.warn("static files are missing", stacklevel=1)
    finally:
        logging.captureWarnings(False)
    assert [record.name for record in caplog.records] == ["affidavit", "py.warnings"]
    assert "a value" not in formatter.format(caplog.records[0])
    assert capfd.readouterr().err == ""


@given(size=st.integers(0, 200_000), padding=st.sampled_from(["a", "/", "x-", "gak_", "=", "eyJ", "a b "]))
@example(size=100_000, padding="password=")
def test_a_line_is_bounded_and_made_quickly(size, padding):
    line = formatter.format(make_record("Forbidden: %s", padding * (size // len(padding))))
    assert len(line) < MAX_MESSAGE + 300


def test_a_secret_that_is_cut_in_two_by_the_limit_is_not_printed():
    secret = make_key("gak_")
    for length in range(MAX_MESSAGE - 50, 2 * MAX_MESSAGE + 10):
        assert secret[4:16] not in formatter.format(make_record("%s %s", "a b " * (length // 4), secret))


@pytest.mark.parametrize(
    "text",
    [
        "GET /w/lumen-books/production/overview.json 200",
        "the sweep failed; it runs again in 10 s",
        "test_of_a_body_that_is_too_large_only_as_much_is_kept",
        "Task catalog.tasks.fold[7f3e1a9c-1f1b-4b52-9d3c-0f5c3d1f2a3b] succeeded",
        'File "/usr/lib/python3.11/site-packages/django/core/handlers/base.py", line 197, in _get_response',
        "workspace lumen-books was removed by ann with 1204 rows",
        "token expired; sign in again",
    ],
)
def test_ordinary_text_stays_as_it_is(text):
    assert cut_secrets(text) == text


def test_arguments_that_do_not_fit_are_left_out():
    assert json.loads(formatter.format(make_record("%d of it", "gak_x")))["message"] == "%d of it"


def test_every_logger_of_the_hub_writes_through_the_formatter():
    assert settings.LOGGING["root"]["handlers"] == list(settings.LOGGING["handlers"])
    assert {handler["formatter"] for handler in settings.LOGGING["handlers"].values()} == {"json"}
    for name in logging.root.manager.loggerDict:
        if not name.startswith(("hypothesis", "_pytest", "asyncio")):
            logger = logging.getLogger(name)
            assert logger.propagate or all(type(handler) is logging.NullHandler for handler in logger.handlers), name


def test_lines_of_the_web_server_are_cleaned_too(tmp_path):
    key = make_key("gak_")
    (tmp_path / "failing.py").write_text(f"async def application(*_):\n    raise RuntimeError({key!r})\n")
    port = str(free_port())
    command = [sys.executable, "-m", "granian", "--interface", "asginl", "failing:application", "--port", port]
    with (tmp_path / "output").open("w+") as output:
        environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.pathsep.join(sys.path)}"}
        arguments = ["--log-config", str(SERVER_LOGS), "--log-level", "warning"]
        server = subprocess.Popen([*command, *arguments], env=environment, stdout=output, stderr=output)
        try:
            wait_for_failure(f"http://127.0.0.1:{port}/")
        finally:
            server.terminate()
            server.wait(30)
        output.seek(0)
        lines = output.read().splitlines()
    assert any("RuntimeError" in json.loads(line)["message"] for line in lines)
    assert key not in "".join(lines)


def wait_for_failure(address: str) -> None:
    """Ask until the server answers with a failure."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(address, timeout=5)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


@pytest.mark.django_db
def test_an_anonymous_form_without_a_token_adds_one_short_line_without_its_path(capsys):
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logger = logging.getLogger()
    logger.addHandler(handler)
    token = secrets.token_urlsafe(32)
    try:
        Client(enforce_csrf_checks=True).post(f"/sign-in/{token}", {"a": "b" * 60_000})
        Client(enforce_csrf_checks=True).post(f"/sign-in/{'x/' * 30_000}", {})
    finally:
        logger.removeHandler(handler)
    lines = capsys.readouterr().err.splitlines()
    assert token not in "".join(lines)
    assert len(lines) <= 2
    assert all(len(line) < 500 for line in lines)


def test_a_line_about_a_failing_database_has_its_code(caplog):
    error = OperationalError("it failed")
    error.__cause__ = AdminShutdown("a value")
    find_cause(error)
    assert json.loads(formatter.format(caplog.records[-1]))["sqlstate"] == "57P01"


@pytest.mark.django_db
def test_a_line_with_the_trace_of_a_database_error_has_its_code():
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")
    except DatabaseError:
        line = formatter.format(make_record("it failed", exc_info=sys.exc_info()))
    assert json.loads(line)["sqlstate"] == "22012"
