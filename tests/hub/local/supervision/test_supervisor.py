"""A hub restarts any process that was killed, and ends if restarting does not help."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.local.postgresql.server import Server
from hub.local.supervision.supervisor import (
    LONGEST_PAUSE,
    MOST_FAILURES,
    STEADY_SECONDS,
    Child,
    Restarts,
    Supervisor,
    stop_children,
)
from tests.hub.hub_process import Hub, find_processes, is_alive, is_ready, running_hub, wait_for

BACK_WITHIN = 30  # seconds


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "a folder") as hub:
        hub.start()
        yield hub


@pytest.mark.xdist_group("whole hub")
def test_killed_processes_are_back_within_seconds_twice_in_a_row(hub):
    programs = [("celery", "worker"), ("celery", "beat"), ("granian",), ("-D",)]
    for _ in range(2):
        victims = {words: find_processes(hub, *words) for words in programs}
        for pids in victims.values():
            os.kill(pids[0], signal.SIGKILL)
        for words, pids in victims.items():
            wait_for(lambda words=words, pids=pids: set(find_processes(hub, *words)) - set(pids), BACK_WITHIN)
        wait_for(lambda: is_ready(hub), BACK_WITHIN)
    assert hub.stop() == 0
    assert hub.processes() == []


@pytest.mark.xdist_group("whole hub")
def test_a_slow_recovery_of_the_database_delays_no_other_program(hub):
    cluster = Server(hub.folder / "var").cluster
    (cluster / "recovery.signal").touch()  # makes the recovery wait for the restore_command below
    with (cluster / "postgresql.auto.conf").open("a") as file:
        file.write("restore_command = 'sleep 60; false'\n")
    web_processes, (database, *_) = find_processes(hub, "granian"), find_processes(hub, "-D")
    os.kill(database, signal.SIGKILL)
    wait_for(lambda: set(find_processes(hub, "-D")) - {database}, BACK_WITHIN)
    os.kill(web_processes[0], signal.SIGKILL)
    wait_for(lambda: set(find_processes(hub, "granian")) - set(web_processes), BACK_WITHIN)
    assert not is_ready(hub)


class Flaky:
    """A program that has ended whenever the supervisor looks at it."""

    name = "flaky"

    def __init__(self) -> None:
        self.starts = 0

    def start(self) -> None:
        self.starts += 1

    def describe_end(self) -> str | None:
        return "ended with status 1"


def test_the_hub_ends_where_restarting_does_not_help(monkeypatch, caplog):
    monkeypatch.setattr("hub.local.supervision.supervisor.POLL_SECONDS", 0)
    seconds = iter(range(10**6))
    program = Flaky()
    supervisor = Supervisor([program], clock=lambda: next(seconds))
    assert supervisor.run() == 1
    assert program.starts == MOST_FAILURES
    assert "10 times in a row: the hub stops" in caplog.text


@given(st.lists(st.floats(0, 2 * STEADY_SECONDS), min_size=1, max_size=50))
def test_pauses_grow_until_a_program_runs_steadily_and_too_many_failures_end_the_hub(lifetimes):
    restarts, now, failures = Restarts(), 0.0, 0
    for lifetime in lifetimes:
        restarts.note_start(now)
        now += lifetime
        failures = 1 if now - restarts.started_at >= STEADY_SECONDS else failures + 1
        pause = restarts.note_failure(now)
        if failures >= MOST_FAILURES:
            assert pause is None
            return
        assert pause == min(0.5 * 2 ** (failures - 1), LONGEST_PAUSE)
        now += pause


def test_the_children_of_a_killed_process_end_with_it(tmp_path):
    code = "import subprocess, sys, time; print(subprocess.Popen(['sleep', '60']).pid, flush=True); time.sleep(60)"
    child = Child("parent", [sys.executable, "-c", code], dict(os.environ), str(tmp_path))
    child.start()
    children = Path(f"/proc/{child.process.pid}/task/{child.process.pid}/children")
    wait_for(children.read_text, BACK_WITHIN)
    (grandchild,) = children.read_text().split()
    os.kill(child.process.pid, signal.SIGKILL)
    wait_for(lambda: child.describe_end() == "ended by SIGKILL", BACK_WITHIN)
    child.start()
    wait_for(lambda: not is_alive(int(grandchild)), BACK_WITHIN)
    stop_children([child])
    assert child.describe_end() == "ended by SIGTERM"
