"""Moving to an older PostgreSQL of the operator changes no byte of a download, and locks the old database."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.local.postgresql.programs import find_user_prefix
from tests.hub.backup.stored_data import assert_refused, can_verify, read_downloads, start_with_data
from tests.hub.hub_process import Hub, free_port, running_hub

pytestmark = pytest.mark.xdist_group("whole hub, data")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "hub") as hub:
        yield hub


@pytest.fixture
def own_postgres(tmp_path: Path) -> Iterator[str]:
    """Run the oldest installed PostgreSQL of version 15 or newer; yield the address of its empty database `own`."""
    versions = sorted(Path("/usr/lib/postgresql").glob("1[5-9]/bin/initdb"))
    if not versions:
        pytest.skip("no PostgreSQL of the system: apt-get install postgresql-15")
    programs, cluster, port = versions[0].parent, tmp_path / "own", free_port()

    def run(program: str, *arguments: str) -> None:
        command = [*find_user_prefix(), str(programs / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})

    run("initdb", "-D", str(cluster), "--username=own", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
    run("pg_ctl", "-D", str(cluster), "-o", options, "-l", str(tmp_path / "own.log"), "--wait", "start")
    try:
        run("createdb", "--host=127.0.0.1", f"--port={port}", "--username=own", "--locale=C.UTF-8", "own")
        yield f"postgresql://own:own@127.0.0.1:{port}/own"
    finally:
        run("pg_ctl", "-D", str(cluster), "--wait", "--mode=immediate", "stop")


def run_in_shell(hub: Hub, expression: str) -> str:
    """Return the value of an expression about the months of the hub's database."""
    names = "from intents.reports.prune import REJECTIONS; from wire.postgresql.monthly_partitions import *"
    return hub.manage("shell", "--no-imports", "-c", f"{names}; print({expression})").stdout


def test_everything_is_moved_and_compared_and_the_old_database_no_longer_starts(hub, own_postgres):
    created = start_with_data(hub)
    before = read_downloads(hub, created)
    assert "2024, month=3" in run_in_shell(hub, "create_months(REJECTIONS, [Month(2024, 3)])")
    assert_refused(hub.manage("move_database"), "DATABASE_URL: not set")
    assert hub.stop() == 0

    key_file = hub.folder / "var" / "secret.key"
    hub.settings = {"DATABASE_URL": own_postgres, "SECRET_KEY": "another key than that of the data"}
    assert_refused(hub.manage("up"), "the database is empty", "move_database", "HUB_START_EMPTY")
    assert_refused(hub.manage("move_database"), "SECRET_KEY_FILE")

    hub.settings = {"DATABASE_URL": f"{own_postgres}er", "SECRET_KEY_FILE": str(key_file)}
    assert_refused(hub.manage("move_database"), 'DATABASE_URL: cannot be reached: database "owner" does not exist')

    hub.settings = {"DATABASE_URL": own_postgres, "SECRET_KEY_FILE": str(key_file)}
    done = hub.manage("move_database")
    assert done.returncode == 0, done.stderr
    assert "outcomes_outcome" in done.stdout
    assert "2024, month=3" in run_in_shell(hub, "list_months(REJECTIONS)"), "an old month has a partition there too"
    hub.start()
    assert read_downloads(hub, created) == before
    assert can_verify(hub, created)
    again = {"outcomes": [{"conversationId": "a new one", "outcomeKey": "purchase"}]}
    assert hub.request("/api/conversation-outcomes", again, key=created["secretKey"])[0] == 200
    hub.settings = {}
    assert_refused(hub.manage("sign_in_link"), "were moved to 127.0.0.1", "DATABASE_URL")  # beside the running hub
    hub.settings = {"DATABASE_URL": own_postgres, "SECRET_KEY_FILE": str(key_file)}
    assert hub.stop() == 0

    moved_file = hub.folder / "var" / "postgres.moved"
    assert_refused(hub.manage("move_database"), "were moved to 127.0.0.1", str(moved_file))
    hub.settings = {}
    assert_refused(hub.manage("up"), "were moved to 127.0.0.1", "DATABASE_URL", str(moved_file))
    moved_file.unlink()
    hub.settings = {"DATABASE_URL": own_postgres, "SECRET_KEY_FILE": str(key_file)}
    assert_refused(hub.manage("move_database"), "the database is not empty")


def test_a_hub_may_begin_empty_if_a_setting_says_so_and_commands_refuse_a_newer_database(hub, own_postgres):
    hub.copy_workspace()
    hub.settings = {"DATABASE_URL": own_postgres, "SECRET_KEY": "k" * 40, "HUB_START_EMPTY": "true"}
    assert hub.manage("migrate").returncode == 0
    insert = "INSERT INTO django_migrations (app, name, applied) VALUES ('outcomes', '9999_future', now())"
    code = f"from django.db import connection as c; c.cursor().execute({insert!r})"
    assert hub.manage("shell", "--no-imports", "-c", code).returncode == 0
    for command in (["migrate"], ["grant_web_role", "somebody"]):
        assert_refused(hub.manage(*command), "newer version", "9999_future")


def test_a_backup_of_the_embedded_server_is_restored_into_an_older_one(hub, own_postgres, tmp_path):
    file = tmp_path / "affidavit.backup"
    hub.copy_workspace()
    assert hub.manage("backup", str(file)).returncode == 0
    key_file = tmp_path / "key"
    key_file.write_text((hub.folder / "var" / "secret.key").read_text())
    hub.settings = {"DATABASE_URL": own_postgres, "SECRET_KEY": "k" * 40}
    assert_refused(hub.manage("restore", str(file)), "SECRET_KEY_FILE", "unzip -p")
    hub.settings = {"DATABASE_URL": own_postgres, "SECRET_KEY_FILE": str(key_file)}
    done = hub.manage("restore", str(file))
    assert done.returncode == 0, done.stderr
    assert "as many as in" in done.stdout
