"""All tests of a group run in one process. Groups are, for example, tests that start a whole hub, or a browser."""

import os
import subprocess
import sys

TEST = """
import pytest

@pytest.mark.xdist_group("whole hub")
@pytest.mark.parametrize("number", range(20))
def test_number(number, worker_id, tmp_path_factory):
    (tmp_path_factory.getbasetemp().parent / f"{number}.{worker_id}").touch()
"""


def test_a_group_of_tests_is_not_divided(tmp_path):
    (tmp_path / "test_of_a_group.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "2", "--dist", "loadgroup"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command += ["--basetemp", str(tmp_path / "base"), str(tmp_path)]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment)
    workers = {path.suffix for path in (tmp_path / "base").glob("*.gw*")}
    assert len(workers) == 1
