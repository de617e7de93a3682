"""A start that fails says why in one line, with the variable and the cure."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from hub.local.postgresql.server import Server
from tests.hub.hub_process import ROOT, Hub, running_hub

pytestmark = pytest.mark.xdist_group("whole hub")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "a folder") as hub:
        yield hub


def assert_one_clear_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode != 0
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize("command", [["up"], ["run", "web"]])
def test_a_taken_port_is_one_clear_line(hub, command):
    own_database = {"DATABASE_URL": "postgresql://u:p@127.0.0.1:1/x", "SECRET_KEY": "k" * 40}
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", hub.port))
        holder.listen()
        hub.settings = own_database if command[0] == "run" else {}
        assert_one_clear_line(hub.manage(*command), str(hub.port), "HUB_PORT")


@pytest.mark.parametrize("command", [["up"], ["run", "web"], ["run", "worker"]])
def test_a_misspelt_variable_is_logged_before_anything_starts(hub, command):
    misspelt = {"HUB_DATADIR": "/srv", "HUB_PROT": "8080", "HUB_PORT_80_TCP": "tcp://10.0.0.1:80"}
    hub.settings = {**misspelt, "HUB_HOST": "192.0.2.1"}  # not an address of this machine, so the start fails
    done = hub.manage(*command)
    *lines, fault = done.stderr.splitlines()
    assert fault.startswith("affidavit: "), done.stderr
    assert [json.loads(line)["level"] for line in lines] == ["warning", "warning"]
    assert [json.loads(line)["message"] for line in lines] == [
        "HUB_DATADIR is no setting, and is ignored. Did you mean HUB_DATA_DIR?",
        "HUB_PROT is no setting, and is ignored. Did you mean HUB_PORT?",
    ]


def test_data_of_another_postgresql_version_are_not_touched(hub):
    cluster = hub.folder / "var" / "postgres"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("19\n")
    assert_one_clear_line(hub.manage("up"), "PostgreSQL 19", "DATABASE_URL")


def test_a_database_of_a_newer_version_is_one_clear_line(hub):
    hub.copy_empty_database()
    insert = "INSERT INTO django_migrations (app, name, applied) VALUES ('outcomes', '9999_future', now())"
    code = f"from django.db import connection as c; c.cursor().execute({insert!r})"
    assert hub.manage("shell", "--no-imports", "-c", code).returncode == 0
    assert_one_clear_line(hub.manage("up"), "newer version", "9999_future")


def test_a_full_disk_is_one_clear_line(hub):
    # A limit on file size simulates a full disk.
    code = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000));"
        "sys.argv = ['manage.py', 'up']; runpy.run_path('manage.py', run_name='__main__')"
    )
    # Leave out these variables: coverage could not write its file either, and would print lines about that.
    environment = {name: value for name, value in hub.environment.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert_one_clear_line(done, "affidavit:")
    hub.start()  # nothing half-made was left behind


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("HUB_PORT", "eighty", "HUB_PORT: not a port. Set a number from 1 to 65535."),
        ("HUB_PORT", "70000", "HUB_PORT: not a port. Set a number from 1 to 65535."),
        ("HUB_PORT", "0", "HUB_PORT: not a port. Set a number from 1 to 65535."),
        ("CELERY_BROKER_URL", "nonsense", "redis://HOST:6379/0"),
        ("CELERY_BROKER_URL", "redis://:hidden@localhost:port/0", "redis://HOST:6379/0"),
        ("LOG_LEVEL", "loud", "LOG_LEVEL"),
        ("DATABASE_URL", "mysql://x/y", "postgresql://"),
        ("DATABASE_URL", "nonsense", "postgresql://"),
        ("DATABASE_URL", "postgresql://u:p@localhost", "postgresql://"),
        ("DATABASE_URL", "postgresql://u:12/hidden@localhost/x", "postgresql://"),
        ("DATABASE_PREPARE", "perhaps", "boolean"),
        ("REPLICA_DATABASE_URL", "mysql://x/y", "postgresql://"),
        ("REPLICA_DATABASE_URL", "postgresql://u:p@h/x?isolation_level=serializable", "leave out isolation_level"),
        ("DATABASE_URL", "postgresql://u:p@h/x?sslmode=prefer&pool=true", "leave out pool"),
        ("REPLICA_MAX_AGE", "0", "REPLICA_MAX_AGE: not a number of seconds. Set a number from 1 on."),
        ("WEB_DATABASE_URL", "postgresql://u:hidden@localhost/x", "works only beside DATABASE_URL"),
        ("EMAIL_URL", "smtp+tls:hidden", "Write smtp+tls://USER:PASSWORD@HOST:587."),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "hidden", "Write http://HOST:4318."),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://[::1:4318", "Write http://HOST:4318."),
        ("OIDC_ISSUER", "https://[::1", "not an https:// address"),
        ("SECRET_KEY", "short", "32"),
        ("SECRET_KEY_FILE", sys.executable, "is no text in UTF-8"),
        ("SECRET_KEY_FILE", os.devnull, "is empty"),
        ("METRICS_TOKEN_FILE", os.devnull, "is empty"),
        ("OIDC_CLIENT_SECRET_FILE", os.devnull, "is empty"),
        ("CSRF_TRUSTED_ORIGINS", "https://one.example, two.example", "two.example is no origin"),
        ("HUB_DATA_DIR", "/proc/nothing/var", "HUB_DATA_DIR"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_name_and_the_cure(hub, name, value, cure):
    hub.settings = {name: value}
    done = hub.manage("up")
    assert_one_clear_line(done, "affidavit: ", name, cure)
    assert "hidden" not in done.stderr


@pytest.mark.parametrize(
    ("command", "address", "reason"),
    [
        (["up"], "postgresql://affidavit:hidden@127.0.0.1:1/x", "Connection refused"),
        (["up"], "postgresql://affidavit:hidden@{socket}/affidavit", "password authentication failed"),
        (["up"], "postgresql://affidavit:{password}@{socket}/nothing", 'database "nothing" does not exist'),
        (["migrate"], "postgresql://affidavit:hidden@127.0.0.1:1/x", "Connection refused"),
        (["migrate"], "postgresql://affidavit:hidden@127.0.0.1:1/x?pgbouncer=true", 'option "pgbouncer"'),
        (["create_workspace", "Tea House"], "postgresql://affidavit:hidden@127.0.0.1:1/x", "Connection refused"),
    ],
)
def test_a_database_that_cannot_be_reached_is_one_clear_line(hub, command, address, reason):
    connection = Server(Path(os.environ["HUB_DATA_DIR"])).connection_settings()
    password, socket = (quote(str(connection[name]), safe="") for name in ("PASSWORD", "HOST"))
    url = address.format(socket=socket, password=password)
    hub.settings = {"DATABASE_URL": url, "SECRET_KEY": "k" * 40}
    done = hub.manage(*command)
    assert_one_clear_line(done, "affidavit: DATABASE_URL: ", reason)
    assert done.returncode == 1
    assert "hidden" not in done.stderr
    assert password not in done.stderr


def test_a_database_url_without_a_secret_key_is_refused(hub):
    hub.settings = {"DATABASE_URL": "postgresql://u:p@localhost/x"}
    assert_one_clear_line(hub.manage("up"), "SECRET_KEY")
