"""The starts and the log of the embedded PostgreSQL."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.local.postgresql import server as postgresql_server
from hub.local.postgresql.server import OLD_LOGS, Server
from hub.local.startup_errors import StartupError
from tests.hub.hub_process import ROOT, prepare_empty_database, wait_for


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(Path(shutil.copytree(prepare_empty_database(), tmp_path / "it's a folder")))
    server.start()
    yield server
    server.stop()


def reload(server: Server) -> None:
    """Let the server write to its log."""
    server._run_pg_ctl("reload")


def test_the_log_is_bounded_and_goes_on_in_a_new_file(server, monkeypatch):
    logs = [server.log, *(server.log.with_name(f"postgres.log.{number}") for number in range(1, OLD_LOGS + 1))]
    server.rotate_log()
    assert [path for path in logs if path.exists()] == logs[:1]
    monkeypatch.setattr(postgresql_server, "MAX_LOG_BYTES", 1)
    for _ in range(OLD_LOGS + 2):
        server.rotate_log()
        wait_for(server.log.exists, 10)
        reload(server)
        wait_for(lambda: "SIGHUP" in server.log.read_text(), 10)
    assert sorted(server.data_dir.glob("postgres.log*")) == logs
    assert all(path.stat().st_mode & 0o077 == 0 for path in logs)


def test_a_start_that_fails_names_the_reason_of_the_log(server):
    server.stop()
    (server.cluster / "global/pg_control").unlink()
    with pytest.raises(StartupError, match=r"pg_control|not find the database"):
        server.start()


def test_a_server_that_was_stopped_leaves_no_folder_for_temporary_files(server):
    assert not server.sockets.is_relative_to(server.data_dir)
    server.stop()
    assert not server.sockets.exists()


def test_the_next_start_does_not_wait_for_what_a_killed_first_start_left_running(tmp_path):
    data_dir = tmp_path / "var"
    code = "import sys; from hub.local.postgresql.server import *; Server(Path(sys.argv[1])).start()"
    killed = subprocess.Popen([sys.executable, "-c", code, str(data_dir)], cwd=ROOT)
    wait_for(lambda: [*data_dir.glob("postgres.new*/pg_wal")], 30)
    killed.kill()
    killed.wait()
    server = Server(data_dir)
    server.start()
    try:
        assert server.is_running()
    finally:
        server.stop()
    wait_for(lambda: not [*data_dir.glob("postgres.new*")], 5)
