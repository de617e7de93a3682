"""`manage.py prepare` and `manage.py run`: what `manage.py up` does, for a supervisor of the operator's own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from hub.local.command_lines import PROGRAMS, list_arguments
from hub.local.database.prepare import prepare_database
from hub.local.run_hub import run_process
from hub.local.startup_errors import StartupError
from tests.hub.hub_process import ROOT, Hub, running_hub

DATABASE = {"DATABASE_URL": "postgresql://u:p@127.0.0.1:1/x", "SECRET_KEY": "k" * 40}  # no server is there
pytestmark = pytest.mark.xdist_group("whole hub")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path) as hub:
        yield hub


def name_database(name: str, **changes: str) -> dict[str, str]:
    """Return the variables of a hub with this database of the tests' server; `changes` name another user."""
    facts = {"user": connection.settings_dict["USER"], "password": connection.settings_dict["PASSWORD"], **changes}
    user, password, socket = (
        quote(str(part), safe="") for part in (facts["user"], facts["password"], connection.settings_dict["HOST"])
    )
    return {"DATABASE_URL": f"postgresql://{user}:{password}@{socket}/{name}", "SECRET_KEY": "k" * 40}


@pytest.mark.parametrize("command", [["prepare"], ["run", "web"]])
def test_without_a_database_url_no_database_is_started_and_the_cure_is_printed(hub, command):
    result = hub.manage(*command)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("affidavit: DATABASE_URL: required here.")
    assert not (hub.folder / "var/postgres").exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "start", [prepare_database, *(partial(run_process, name) for name in PROGRAMS)], ids=["prepare", *PROGRAMS]
)
def test_a_database_that_a_newer_version_has_migrated_is_refused(settings, monkeypatch, start):
    settings.DATABASE_URL = "postgresql://u:p@h/x"
    monkeypatch.setattr("os.execvpe", lambda *arguments: pytest.fail("it started"))
    MigrationRecorder(connection).record_applied("outcomes", "9999_future")
    with pytest.raises(StartupError, match="newer version"):
        start()


def test_a_database_that_cannot_hold_every_character_is_refused(hub, django_db_blocker):
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS latin")
        cursor.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'")
    hub.settings = name_database("latin")
    result = hub.manage("prepare")
    assert (result.returncode, result.stdout) == (1, "")
    assert "the database's encoding is not UTF8" in result.stderr


@pytest.mark.parametrize("command", [["prepare"], ["backup", "x.backup"], ["create_workspace", "Shop"]], ids=" ".join)
def test_a_database_that_takes_no_changes_is_refused_in_one_line(hub, django_db_blocker, command):
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS unchangeable")
        cursor.execute("CREATE DATABASE unchangeable TEMPLATE template0 ENCODING 'UTF8'")
        cursor.execute("ALTER DATABASE unchangeable SET default_transaction_read_only = on")
    hub.settings = name_database("unchangeable")
    result = hub.manage(*command)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("affidavit: DATABASE_URL: the database takes no changes")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.django_db(transaction=True)
def test_a_command_of_a_user_who_does_not_own_the_tables_says_so_in_one_line(hub):
    with connection.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS stranger")
        cursor.execute("CREATE ROLE stranger LOGIN PASSWORD 'stranger'")
    try:
        hub.settings = name_database(connection.settings_dict["NAME"], user="stranger", password="stranger")
        result = hub.manage("prune")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP ROLE stranger")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("affidavit: DATABASE_URL: this user of the database may not do this.")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.django_db
def test_a_web_server_without_its_static_files_says_what_comes_first(settings, tmp_path, monkeypatch):
    settings.DATABASE_URL, settings.STATIC_ROOT = "postgresql://u:p@h/x", tmp_path
    monkeypatch.setattr("os.execvpe", lambda *arguments: None)
    monkeypatch.setattr("os.chdir", lambda folder: None)
    with pytest.raises(StartupError, match=r"`manage\.py prepare` first"):
        run_process("web")


@pytest.mark.django_db
def test_a_start_with_a_key_that_decrypts_no_signing_secret_says_so(workspace, settings, tmp_path, monkeypatch, caplog):
    settings.DATABASE_URL, settings.HUB_DATA_DIR = "postgresql://u:p@h/x", tmp_path
    monkeypatch.setattr("os.execvpe", lambda *arguments: None)
    monkeypatch.setattr("os.chdir", lambda folder: None)
    run_process("worker")
    assert not caplog.messages
    settings.SECRET_KEY = "another key, of another hub, which is long"
    run_process("worker")
    (message,) = caplog.messages
    assert message.startswith("1 of 1 signing secret cannot be decrypted, such as gas_")
    assert "SECRET_KEY_FALLBACKS" in message


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_run_command_is_replaced_by_its_program(hub, name):
    arguments = [word.encode() for word in list_arguments()[name]]
    program = arguments[arguments.index(b"hub.programs") :][:3]
    command = [sys.executable, "manage.py", "run", name]
    environment = {**hub.environment, **DATABASE}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 60
            words: list[bytes] = []
            while time.monotonic() < deadline and b"hub.programs" not in words:
                words = Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")
                time.sleep(0.1)
            assert words[words.index(b"hub.programs") :][:3] == program
            variables = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
            module = "hub.web_role_settings" if name == "web" else "hub.settings"
            assert f"DJANGO_SETTINGS_MODULE={module}".encode() in variables
            assert f"PROMETHEUS_MULTIPROC_DIR={hub.folder}/var/metrics".encode() in variables
        finally:
            process.kill()
