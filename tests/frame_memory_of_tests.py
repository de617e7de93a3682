"""Run pytest, and each of its workers, with the memory for frames that the hub's programs have.

Tests run deeper in nested calls than requests do, so without this memory more of them map and unmap memory again and
again. In three folders, that took 4 to 15 % of the processor time.
"""

from __future__ import annotations

import sys

import pytest

from hub.frame_memory import call_with_frame_memory


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | pytest.ExitCode | None:
    this_plugin = sys.modules[__name__]
    run_session = config.pluginmanager.subset_hook_caller("pytest_cmdline_main", [this_plugin])
    return call_with_frame_memory(run_session, config=config)
