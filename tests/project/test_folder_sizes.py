"""No folder has so many modules that a newcomer must search in it."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path, PurePath

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_MODULES = 14
NOT_COUNTED = {"__init__.py", "conftest.py"}
LISTS = {"migrations", "commands"}  # folders whose files are numbered, or named after what people type


def list_modules() -> list[PurePath]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("git does not know this folder")
    modules = [PurePath(name) for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    return [module for module in modules if module.name not in NOT_COUNTED and module.parent.name not in LISTS]


def test_no_folder_has_more_modules_than_one_looks_through():
    counts = Counter(str(module.parent) for module in list_modules())
    assert len(counts) > 50
    assert {folder: count for folder, count in counts.items() if count > MAX_MODULES} == {}
