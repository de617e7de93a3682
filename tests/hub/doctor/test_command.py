"""`manage.py doctor` on a hub whose parts stop one after the other."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hub.hub_process import Hub, find_processes, running_hub

pytestmark = pytest.mark.xdist_group("whole hub, data")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path) as hub:
        yield hub


def examine(hub: Hub) -> tuple[int, dict[str, Any]]:
    """Return the exit status, and the checks that are not ok."""
    result = hub.manage("doctor", "--json", "--seed", "1")
    assert result.stdout.count("\n") == 1, result.stdout + result.stderr
    report = json.loads(result.stdout)
    assert (report["ok"], report["seed"]) == (result.returncode == 0, 1)
    return result.returncode, {name: check for name, check in report["checks"].items() if check["state"] != "ok"}


def find_worker(hub: Hub) -> int:
    """Return the process id of the worker. The `nice` that started the worker had the same id."""
    return find_processes(hub, "celery", "worker")[0]


def test_a_hub_is_examined_while_it_runs_without_its_worker_or_broker_and_after_its_end(hub):
    hub.start()
    lines = hub.manage("doctor").stdout.splitlines()
    assert [line for line in lines if not line.startswith("ok ")] == []
    assert len(lines) == 21

    password_file = hub.folder / "var/postgres-web.password"
    password = password_file.read_text()
    password_file.write_text("another")
    status, faults = examine(hub)
    assert (status, list(faults)) == (1, ["web login"])
    password_file.write_text(password)

    os.kill(find_worker(hub), signal.SIGSTOP)
    status, faults = examine(hub)
    assert (status, list(faults)) == (1, ["worker"])
    assert "No worker answered" in faults["worker"]["detail"]
    os.kill(find_worker(hub), signal.SIGCONT)

    hub.settings["CELERY_BROKER_URL"] = "redis://:password@127.0.0.1:1/0"
    status, faults = examine(hub)
    assert (status, {name: check["state"] for name, check in faults.items()}) == (
        1, {"broker": "wrong", "worker": "skipped"},
    )  # fmt: skip
    assert "password" not in faults["broker"]["detail"]
    del hub.settings["CELERY_BROKER_URL"]

    assert hub.stop() == 0
    status, faults = examine(hub)
    assert (status, faults["database"]["state"], faults["worker"]["state"]) == (1, "wrong", "wrong")
    assert faults["tallies"]["state"] == "skipped"
    assert not (hub.folder / "var/postgres/postmaster.pid").exists()
