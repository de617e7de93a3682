"""The line that `manage.py up` prints once the hub answers; Ctrl-C in the terminal where it stands ends the hub."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hub.hub_process import ROOT, running_hub

pytestmark = pytest.mark.xdist_group("whole hub")


def test_without_a_terminal_the_line_says_how_to_get_a_link_for_the_operator_and_has_none(hub):
    assert "/sign-in/" not in hub.output
    assert "manage.py sign_in_link" in hub.output
    assert hub.request(hub.create_sign_in_link().removeprefix(hub.address))[0] == 200


def test_on_a_terminal_the_line_has_a_link_and_ctrl_c_which_reaches_the_whole_group_ends_without_a_traceback(
    tmp_path: Path,
):
    with running_hub(tmp_path / "a folder") as hub:
        hub.settings["HUB_SAMPLE"] = "1"
        controller, terminal = pty.openpty()
        with (hub.folder / "output.log").open("wb") as errors:
            hub.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"], cwd=ROOT, env=hub.environment, stdout=terminal, stderr=errors,
                start_new_session=True,
            )  # fmt: skip
        os.close(terminal)
        printed = b""
        while b"minutes)" not in printed:
            printed += os.read(controller, 4096)
        assert re.search(rb"Sign in once with http://\S+/sign-in/[\w-]{43} \(15 minutes\)", printed)
        time.sleep(3)  # by then the other programs have started, too
        os.killpg(hub.process.pid, signal.SIGINT)
        assert hub.process.wait(timeout=60) == 0
        os.set_blocking(controller, False)
        assert "Traceback" not in hub.output + read_rest(controller)
        assert hub.processes() == []
        os.close(controller)


def read_rest(controller: int) -> str:
    """Return what programs that have ended wrote to a terminal and nobody read yet."""
    try:
        return os.read(controller, 65536).decode()
    except OSError:  # nothing, and no program has the terminal any more
        return ""
