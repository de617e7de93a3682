"""A backup by command, restored on another machine: the same bytes in every download, and the same secrets."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.utils import timezone

from hub import unfinished_restore
from hub.backup import create, restore
from hub.backup.archive import complete_archive, read_archive
from hub.backup.client_programs import find_clients
from hub.backup.create import new_file_beside
from hub.local.database import run_migrations
from hub.local.database.migration_locks import lock_migrations
from hub.local.database.prepare import prepare_database, prepare_unused_database
from hub.local.run_hub import refuse_marked_database
from hub.local.startup_errors import StartupError
from tests.hub.backup.stored_data import assert_refused, can_verify, read_downloads, start_with_data
from tests.hub.hub_process import Hub, running_hub
from tests.hub.local.test_operators_supervisor import name_database

pytestmark = pytest.mark.xdist_group("whole hub, data")

STORE_WAITING_ALERT = """
from datetime import timedelta
from django.utils import timezone
from alerts.models import Alert, Target
from alerts.rules.thresholds import Thresholds
from alerts.setup.alerts import AlertSettings, create_alert
from alerts.setup.send_test_message import send_test
from workspaces.models import Environment
environment, now = Environment.objects.get(name="production"), timezone.now()
target = Target.objects.create(
    workspace=environment.workspace, kind="webhook", name="ops", encrypted_address=b"", shown_address="", created_at=now
)
settings = AlertSettings(environment, Alert.DRIFT, Thresholds(), [target.pk])
create_alert(environment.workspace, settings, actor="ada", now=now)
send_test(target, environment, url="", actor="ada", now=now)
"""
RESTORE_UNTIL_KILLED = """
import os, signal
from pathlib import Path
from hub.backup import restore
from hub.backup.archive import read_archive
restore.migrate = lambda: os.kill(os.getpid(), signal.SIGKILL)
restore.restore_backup(read_archive(Path({file!r})), without_key=False)
"""
READ_ALERTS = """
from alerts.models import Alert, Delivery
print([alert.paused_at is not None for alert in Alert.objects.all()], [row.state for row in Delivery.objects.all()])
"""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "first") as hub:
        yield hub


@pytest.fixture
def second(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "second") as hub:
        yield hub


def test_downloads_are_the_same_bytes_on_the_machine_where_a_backup_is_restored(hub, second, tmp_path):
    file = tmp_path / "affidavit.backup"
    created = start_with_data(hub)
    result = hub.manage("backup", str(file))
    assert result.returncode == 0, result.stderr
    assert "rows" in result.stdout
    assert "key of its secrets" in result.stdout
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == [file.name]
    before = read_downloads(hub, created)

    assert_refused(hub.manage("restore", str(file)), "another hub is running", "Stop it")
    assert hub.stop() == 0
    assert_refused(hub.manage("restore", str(file)), "the database is not empty", "HUB_DATA_DIR")

    result = second.manage("restore", str(file))
    assert result.returncode == 0, result.stderr
    second.start()
    assert read_downloads(second, created) == before
    assert can_verify(second, created)
    assert second.stop() == 0


def test_a_backup_without_its_key_is_not_restored_under_another_key(hub, second, tmp_path):
    file = tmp_path / "affidavit.backup"
    hub.settings = {"SECRET_KEY": "k" * 40}
    hub.copy_empty_database()
    assert hub.manage("create_workspace", "Lumen Books").returncode == 0
    result = hub.manage("backup", str(file))
    assert "does not hold the key" in result.stdout, result.stderr
    assert "SECRET_KEY" in result.stdout
    assert_refused(second.manage("restore", str(file)), "SECRET_KEY", "--without-key", "Nothing was restored")
    second.settings = {"SECRET_KEY": "j" * 40, "SECRET_KEY_FALLBACKS": "k" * 40}
    assert second.manage("restore", str(file)).returncode == 0
    assert second.manage("rotate_encryption").returncode == 0


def test_files_that_are_damaged_cut_or_newer_are_refused_before_anything_is_written(hub, second, tmp_path):
    file, copy = tmp_path / "affidavit.backup", tmp_path / "copy"
    assert_refused(second.manage("backup", str(file)), "nothing to back up")
    hub.copy_workspace()
    assert hub.manage("backup", str(file)).returncode == 0
    whole = file.read_bytes()
    copy.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StartupError, match="a part of it is missing"):
        read_archive(copy)
    copy.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    with pytest.raises(StartupError, match="damaged"):
        read_archive(copy)
    archive = read_archive(file)
    copy.write_bytes(whole[: archive.manifest.dump_bytes])
    members = {**vars(archive.manifest), "migrations": [*archive.manifest.migrations, ("outcomes", "9999_future")]}
    complete_archive(copy, type(archive.manifest)(**members), None)
    assert_refused(second.manage("restore", str(copy)), "newer version", "9999_future")
    assert second.manage("restore", str(file)).returncode == 0


def test_force_replaces_files_only_not_folders_or_devices(tmp_path):
    folder, pipe = tmp_path / "folder", tmp_path / "pipe"
    folder.mkdir()
    os.mkfifo(pipe)
    for path in (folder, pipe):
        with pytest.raises(StartupError, match=f"{path} is no file. Name a new file."):
            call_command("backup", str(path), force=True)
    assert pipe.is_fifo()
    assert folder.is_dir()


def test_pg_restore_and_unzip_read_a_backup(hub, tmp_path):
    file = tmp_path / "affidavit.backup"
    hub.copy_workspace()
    assert hub.manage("backup", str(file)).returncode == 0
    assert_refused(hub.manage("backup", str(file)), "exists", "--force")
    assert hub.manage("backup", str(file), "--force").returncode == 0
    with zipfile.ZipFile(file) as archive:
        assert archive.read("secret.key").decode() == (hub.folder / "var" / "secret.key").read_text()
    listing = subprocess.run(
        [find_clients(18)[0] / "pg_restore", "--list", file], capture_output=True, text=True
    ).stdout
    assert "TABLE DATA public workspaces_workspace" in listing


def test_a_backup_of_an_older_version_is_migrated_when_it_is_restored(hub, second, tmp_path):
    file = tmp_path / "affidavit.backup"
    assert hub.manage("migrate", "workspaces", "0001").returncode == 0
    assert hub.manage("backup", str(file)).returncode == 0
    assert not any(app == "outcomes" for app, _ in read_archive(file).manifest.migrations)
    result = second.manage("restore", str(file))
    assert result.returncode == 0, result.stderr
    assert second.manage("migrate", "--check").returncode == 0


def test_after_a_restore_that_was_killed_the_next_start_pauses_the_alerts(hub, second, tmp_path):
    file = tmp_path / "affidavit.backup"
    hub.copy_workspace()
    assert run_in_shell(hub, STORE_WAITING_ALERT) == ""
    assert run_in_shell(hub, READ_ALERTS) == "[False] ['waiting']\n"
    assert hub.manage("backup", str(file)).returncode == 0
    killed = second.manage("shell", "--no-imports", "-c", RESTORE_UNTIL_KILLED.format(file=str(file)))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert run_in_shell(second, READ_ALERTS) == "[False] ['waiting']\n"
    assert_refused(second.manage("restore", str(file)), "was interrupted", "the next start completes it")
    key_file = second.folder / "var" / "secret.key"
    second.settings = {**name_database("postgres"), "SECRET_KEY": "", "SECRET_KEY_FILE": str(key_file)}
    refused = second.manage("move_database")
    assert_refused(refused, "a restore into this database was interrupted", "without DATABASE_URL")
    second.settings = {}
    second.start()
    assert run_in_shell(second, READ_ALERTS) == "[True] ['dead']\n"
    copy = tmp_path / "copy"
    assert second.manage("backup", str(copy)).returncode == 0
    assert read_archive(copy).manifest.rows.keys() == read_archive(file).manifest.rows.keys(), "no table is left over"


def run_in_shell(hub: Hub, code: str) -> str:
    done = hub.manage("shell", "--no-imports", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.django_db(transaction=True)
def test_no_process_starts_on_a_restored_database_before_its_alerts_are_paused():
    refuse_marked_database()
    with connection.cursor() as cursor:
        cursor.execute(unfinished_restore.CREATE_MARK)
    with pytest.raises(StartupError, match=r"Run `manage.py prepare`"):
        refuse_marked_database()
    assert not prepare_database()
    refuse_marked_database()


def test_a_file_that_cannot_be_written_or_read_is_named_with_its_own_cure(tmp_path):
    file = tmp_path / "missing" / "affidavit.backup"
    with (
        pytest.raises(StartupError, match=f"{file}: cannot be written .No such file or directory.") as caught,
        new_file_beside(file),
    ):
        pass
    assert "HUB_DATA_DIR" not in str(caught.value)
    with pytest.raises(StartupError, match=f"{file}: cannot be read .No such file or directory.") as caught:
        read_archive(file)
    assert "HUB_DATA_DIR" not in str(caught.value)


def test_a_backup_removes_what_an_earlier_one_left_that_was_killed_but_not_what_another_writes_now(tmp_path):
    file, other = tmp_path / "affidavit.backup", tmp_path / ".affidavit.backup.settings"
    other.touch()
    with new_file_beside(file) as running:
        abandoned = running.with_name(f"{running.name}_")
        abandoned.touch()
        with new_file_beside(file) as new:
            assert set(tmp_path.iterdir()) == {other, running, new}
    assert set(tmp_path.iterdir()) == {other, file}


@pytest.mark.django_db(transaction=True)
def test_a_restoration_that_is_interrupted_leaves_nothing(monkeypatch, tmp_path):
    def stop_in_the_middle(source: Any, target: Any) -> None:
        target.write(b"CREATE TABLE half (id int); COPY half FROM stdin;\n1\n")
        raise KeyboardInterrupt

    monkeypatch.setattr(restore, "copy_script", stop_in_the_middle)
    pg_restore, psql = (find_clients(18)[0] / name for name in ("pg_restore", "psql"))
    with pytest.raises(KeyboardInterrupt):
        restore.restore_dump(pg_restore, psql, tmp_path / "affidavit.backup", connection.settings_dict)
    assert "half" not in connection.introspection.table_names()


def run_migrate() -> None:
    call_command("migrate", verbosity=0)


def is_done_during_a_backup(monkeypatch, tmp_path: Path, work: Callable[[], object], seconds: float) -> bool:
    """Start this work while a backup is written. Return whether it ends within these seconds."""
    is_done: list[bool] = []

    def run() -> None:
        work()
        connections.close_all()

    thread = threading.Thread(target=run, daemon=True)

    def dump(*arguments: object, snapshot: str) -> None:
        thread.start()
        thread.join(seconds)
        is_done.append(not thread.is_alive())

    monkeypatch.setattr(create, "dump_database", dump)
    create.write_backup(tmp_path / "affidavit.backup", with_key=False, now=timezone.now())
    thread.join()
    return is_done[0]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("work", [prepare_database, prepare_unused_database, run_migrate])
def test_starts_and_commands_do_not_wait_for_a_backup(monkeypatch, tmp_path, work):
    assert is_done_during_a_backup(monkeypatch, tmp_path, work, seconds=20)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("work", [prepare_database, run_migrate])
def test_a_migration_waits_for_a_backup(monkeypatch, tmp_path, work):
    monkeypatch.setattr(run_migrations, "count_pending_migrations", lambda: 1)
    assert not is_done_during_a_backup(monkeypatch, tmp_path, work, seconds=2)


@pytest.mark.django_db(transaction=True)
def test_the_command_migrate_waits_for_a_start_that_migrates():
    done = threading.Event()

    def run() -> None:
        run_migrate()
        connections.close_all()
        done.set()

    with lock_migrations():
        thread = threading.Thread(target=run)
        thread.start()
        assert not done.wait(2)
    thread.join(60)
    assert done.is_set()
