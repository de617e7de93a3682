"""`manage.py up` starts everything, Ctrl-C stops it, kill -9 loses nothing; a failed start says why in one line."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

from hub.local.postgresql.server import Server
from tests.hub.hub_process import ROOT, Hub, find_processes, is_ready, running_hub, wait_for

BACK_WITHIN = 30  # seconds
OUTCOME = {"outcomes": [{"conversationId": "c1", "outcomeKey": "purchase"}]}
pytestmark = pytest.mark.xdist_group("whole hub")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "a folder") as hub:
        yield hub


def new_workspace(hub: Hub, name: str = "Lumen Books") -> dict:
    done = hub.manage("create_workspace", name, "--environment", "staging", "--full-key", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_one_clear_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode != 0
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    for word in words:
        assert word in lines[0]


def run(arguments: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


def up_with(hub: Hub, **settings: str) -> subprocess.CompletedProcess[str]:
    return run(["up"], {**hub.environment, **settings})


def test_acknowledged_reports_survive_ctrl_c_and_kill_9_of_every_process(hub):
    hub.start(from_nothing=True)
    created = new_workspace(hub)
    assert created["slug"] == "lumen-books", "HUB_SAMPLE=0 leaves out the sample, which has this name"
    key = created["secretKey"]
    assert hub.request("/readyz")[0] == 200
    assert hub.request("/api/conversations", {"conversations": [{"conversationId": "c1"}]}, key=key)[0] == 200
    assert hub.request("/api/conversation-outcomes", OUTCOME, key=key)[1]["recorded"] == 1
    assert hub.stop() == 0
    assert hub.processes() == []

    hub.start()
    for n in range(2, 30):
        item = {"conversationId": f"c{n}", "outcomeKey": "purchase"}
        assert hub.request("/api/conversation-outcomes", {"outcomes": [item]}, key=key)[0] == 200
    hub.kill()

    hub.start()
    page = f"/w/{created['slug']}/production/joins.json"
    broken = hub.request(page, key=key)[1]["tables"]["broken"]
    assert {row["conversationId"] for row in broken} == {f"c{n}" for n in range(2, 30)}
    assert hub.request("/api/conversation-outcomes", OUTCOME, key=key)[2]["X-Outcomes-New"] == "0"
    assert hub.stop() == 0


def test_after_the_supervisor_is_killed_the_next_start_is_clean_or_uses_the_database_that_still_runs(hub):
    key = hub.copy_workspace()["secretKey"]
    hub.start()
    os.kill(hub.process.pid, signal.SIGKILL)
    hub.process.wait()
    hub.kill()
    hub.start()
    assert hub.request("/api/conversation-outcomes", OUTCOME, key=key)[0] == 200

    os.kill(hub.process.pid, signal.SIGKILL)
    hub.process.wait()
    wait_for(lambda: not find_processes(hub, "-m"), BACK_WITHIN)  # only PostgreSQL still runs
    hub.start()
    assert is_ready(hub)
    assert hub.stop() == 0


def test_a_hub_may_be_called_under_its_address_of_ipv6(hub):
    done = run(["doctor", "--json"], {**hub.environment, "HUB_HOST": "2001:db8::1"})
    assert json.loads(done.stdout)["checks"]["hosts"]["detail"] == "The hub is called [2001:db8::1]."


@pytest.mark.parametrize("command", [["up"], ["run", "web"]])
def test_a_taken_port_is_one_clear_line(hub, command):
    own_database = {"DATABASE_URL": "postgresql://u:p@127.0.0.1:1/x", "SECRET_KEY": "k" * 40}
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", hub.port))
        holder.listen()
        done = run(command, {**hub.environment, **(own_database if command[0] == "run" else {})})
        assert_one_clear_line(done, str(hub.port), "HUB_PORT")


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({"HUB_HOST": "localhost"}, "localhost"),
        ({"HUB_HOST": "::1"}, "[::1]"),
        ({"ALLOWED_HOSTS": "affidavit.example.com", "BEHIND_TLS": "true"}, "127.0.0.1"),
    ],
    ids=["name", "IPv6", "proxy"],
)
def test_a_hub_answers_at_the_address_that_it_prints_and_a_start_logs_no_error(hub, variables, address):
    hub.settings = variables
    hub.start(seconds=20)
    assert f"at http://{address}:{hub.port}. " in hub.output
    with urllib.request.urlopen(f"http://{address}:{hub.port}/healthz", timeout=10) as answer:
        assert answer.status == 200
    assert '"level"' not in hub.output


@pytest.mark.parametrize("command", [["up"], ["run", "web"], ["run", "worker"]])
def test_a_misspelt_variable_is_logged_before_anything_starts(hub, command):
    misspelt = {"HUB_DATADIR": "/srv", "HUB_PROT": "8080", "HUB_PORT_80_TCP": "tcp://10.0.0.1:80"}
    done = run(
        command, {**hub.environment, **misspelt, "HUB_HOST": "192.0.2.1"}
    )  # this machine does not have the address, so the start fails
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
    done = up_with(hub, **{name: value})
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
    done = run(command, {**hub.environment, "DATABASE_URL": url, "SECRET_KEY": "k" * 40})
    assert_one_clear_line(done, "affidavit: DATABASE_URL: ", reason)
    assert done.returncode == 1
    assert "hidden" not in done.stderr
    assert password not in done.stderr


def test_a_database_url_without_a_secret_key_is_refused(hub):
    done = up_with(hub, DATABASE_URL="postgresql://u:p@localhost/x")
    assert_one_clear_line(done, "SECRET_KEY")
