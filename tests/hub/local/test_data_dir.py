"""A data directory has one hub, and its secrets are made once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hub.local.data_dir import load_or_create_secret
from tests.hub.hub_process import Hub


@pytest.mark.xdist_group("whole hub")
def test_a_data_directory_in_use_is_one_clear_line(hub):
    second = Hub(hub.folder, hub.port + 1)
    result = second.manage("up")
    assert result.returncode != 0
    (line,) = result.stderr.strip().splitlines()
    assert "another hub is running" in line
    assert "HUB_DATA_DIR" in line
    assert hub.request("/healthz")[0] == 200


def test_processes_that_start_at_once_in_a_new_data_directory_have_the_same_secret(tmp_path):
    for number in range(50):
        path, barrier = tmp_path / str(number) / "secret.key", threading.Barrier(4)

        def load(path: Path = path, barrier: threading.Barrier = barrier) -> str:
            barrier.wait()
            return load_or_create_secret(path)

        with ThreadPoolExecutor(4) as pool:
            results = {future.result() for future in [pool.submit(load) for _ in range(4)]}
        assert results == {path.read_text()}
        assert (path.stat().st_mode & 0o777, list(path.parent.iterdir())) == (0o600, [path])
