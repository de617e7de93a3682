"""A data directory has one hub, and its secrets are made once."""

from __future__ import annotations

import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hub.local.data_dir import load_or_create_secret
from tests.hub.hub_process import Hub

ROOT = Path(__file__).resolve().parents[3]
SOURCES_OF_TARGETS = (
    *("requirements/uv.txt", "requirements/run.txt", "requirements/dev.txt", "sdk/pyproject.toml"),
    *("sdk/src/affidavit/_version.py", "static/a.css", "hub/static_files/bundles.py", "templates/a.html"),
)


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


def test_what_make_builds_and_checks_leaves_no_secret_in_the_data_directory(tmp_path):
    """`make run` alone starts a hub on HUB_DATA_DIR; any command of the hub makes the secrets that its folder lacks."""
    for name in SOURCES_OF_TARGETS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    for name in ("python", "pip", "uv", "mypy", "ruff", "djade", "lint-imports"):  # each writes down how it was called
        program = programs / name
        program.write_text(f'#!/bin/sh\necho "{name} $* in $HUB_DATA_DIR" >> calls\n')
        program.chmod(0o755)
    for target in ("lint", "run"):
        command = ["make", "-C", str(tmp_path), "-f", str(ROOT / "Makefile"), target]
        subprocess.run(command, env={**os.environ, "HUB_DATA_DIR": "/srv/hub"}, check=True, capture_output=True)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call for call in calls if call.endswith(" in /srv/hub")] == ["python manage.py up in /srv/hub"]
    assert {call for call in calls if "manage.py" in call} == {
        "python manage.py build_static in .venv/data",
        "python manage.py makemigrations --check --dry-run in .venv/data",
        "python manage.py up in /srv/hub",
    }
