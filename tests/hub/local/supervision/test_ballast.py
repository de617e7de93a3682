"""On a full disk PostgreSQL starts again once the ballast, a file that reserves space, is released."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub import health
from hub.local.supervision.ballast import COMFORTABLE_BYTES, FULL_BYTES, Ballast, is_released
from tests.hub.hub_process import Hub, find_processes, is_ready, running_hub, wait_for

BACK_WITHIN = 60  # seconds
DISK = "300m"
OUTCOME = {"outcomes": [{"conversationId": "c1", "outcomeKey": "purchase"}]}
usage = namedtuple("usage", "total used free")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0700", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("no small file system can be mounted here, which needs root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=False)


def set_free(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, free))


def test_the_ballast_is_emptied_on_a_full_disk_and_filled_when_there_is_space(tmp_path, monkeypatch):
    ballast = Ballast(tmp_path / "ballast", 3_000_000)
    set_free(monkeypatch, 3_000_000 + COMFORTABLE_BYTES - 1)
    ballast.tend()
    assert not ballast.path.exists()
    assert not is_released(tmp_path)
    set_free(monkeypatch, 3_000_000 + COMFORTABLE_BYTES)
    ballast.tend()
    assert ballast.path.stat().st_blocks * 512 >= 3_000_000
    set_free(monkeypatch, FULL_BYTES)
    ballast.tend()
    assert ballast.path.stat().st_size == 3_000_000
    set_free(monkeypatch, FULL_BYTES - 1)
    ballast.tend()
    assert is_released(tmp_path)
    set_free(monkeypatch, 3_000_000 + COMFORTABLE_BYTES)
    ballast.tend()
    assert not is_released(tmp_path)


def test_a_changed_size_replaces_the_ballast_and_size_0_removes_it(tmp_path):
    for size in (2_000_000, 1_000_000, 0):
        Ballast(tmp_path / "ballast", size).tend()
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) == size
    assert not list(tmp_path.iterdir())


@pytest.mark.django_db
def test_while_the_ballast_is_used_up_the_hub_is_not_ready(client, settings, tmp_path):
    settings.HUB_DATA_DIR = tmp_path
    (tmp_path / "ballast").touch()
    assert client.get("/readyz").status_code == 503
    assert health.check_free_space()["ok"] is False


@pytest.mark.xdist_group("whole hub")
def test_a_hub_that_fills_its_disk_itself_goes_on_answering(small_disk):
    with running_hub(small_disk) as hub:
        hub.settings["HUB_BALLAST_MIB"] = "32"
        hub.start()
        key = json.loads(hub.manage("create_workspace", "Lumen Books", "--full-key", "--json").stdout)["secretKey"]
        wait_for(lambda: (hub.folder / "var/ballast").exists(), BACK_WITHIN)
        for number in itertools.count():
            ids = [f"{number}-{index}".ljust(200, "x") for index in range(500)]
            outcomes = {"outcomes": [{"conversationId": id_, "outcomeKey": "purchase"} for id_ in ids]}
            if hub.request("/api/conversation-outcomes", outcomes, key=key)[0] != 200:
                break
        assert is_released(hub.folder / "var")
        for _ in range(50):
            assert hub.request("/api/conversation-outcomes", outcomes, key=key)[0] == 503
        time.sleep(3)
        assert hub.request("/api/catalog", key=key)[0] == 200
        assert hub.manage("delete_conversation", "lumen-books", ids[0]).returncode == 0
        assert "PANIC" not in (hub.folder / "var/postgres.log").read_text()


def fill(path: Path) -> None:
    """Write as much as the disk has free now: no more, because the supervisor may empty the ballast meanwhile."""
    left = shutil.disk_usage(path.parent).free
    with path.open("ab", buffering=0) as file, contextlib.suppress(OSError):  # the hub writes, too
        while left > 0:
            left -= file.write(bytes(min(left, 65536)))


@pytest.mark.xdist_group("whole hub")
def test_a_database_that_stopped_on_a_full_disk_starts_and_stores_again(small_disk):
    with running_hub(small_disk) as hub:
        hub.settings["HUB_BALLAST_MIB"] = "48"
        key = hub.copy_workspace()["secretKey"]
        hub.start()
        ballast = hub.folder / "var/ballast"
        wait_for(lambda: ballast.exists() and is_ready(hub), BACK_WITHIN)
        fill(hub.folder / "filling")
        os.kill(find_processes(hub, "-D")[0], signal.SIGKILL)
        wait_for(lambda: is_released(hub.folder / "var"), BACK_WITHIN)
        wait_for(lambda: stores(hub, key), BACK_WITHIN)
        status, checks, _ = hub.request("/readyz")
        assert status == 503
        assert checks["checks"]["disk"]["ok"] is False
        assert "the disk is full" in hub.output
        (hub.folder / "filling").unlink()
        wait_for(lambda: is_ready(hub), BACK_WITHIN)
        assert ballast.stat().st_size == 48 << 20


@pytest.mark.xdist_group("whole hub")
def test_on_a_disk_without_any_space_the_web_server_goes_on_and_starts_again(small_disk):
    with running_hub(small_disk) as hub:
        hub.settings["HUB_BALLAST_MIB"] = "0"
        key = hub.copy_workspace()["secretKey"]
        hub.start()
        fill(hub.folder / "filling")
        for number in range(100):  # each path and status is counted anew
            hub.request(f"/{number}")
            hub.request("/api/conversation-outcomes", OUTCOME, key=key)
            hub.request("/api/conversations", {}, key=key)
        assert "SIGBUS" not in hub.output
        assert "Unexpected exit" not in hub.output
        os.kill(find_processes(hub, "granian")[0], signal.SIGKILL)
        wait_for(lambda: answers(hub), BACK_WITHIN)
        assert "SIGBUS" not in hub.output
        (hub.folder / "filling").unlink()
        wait_for(lambda: stores(hub, key), BACK_WITHIN)


def answers(hub: Hub) -> bool:
    try:
        return hub.request("/healthz")[0] == 200
    except OSError:
        return False


def stores(hub: Hub, key: str) -> bool:
    try:
        return hub.request("/api/conversation-outcomes", OUTCOME, key=key)[0] == 200
    except OSError:
        return False
