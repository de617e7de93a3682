"""`manage.py up` starts everything, Ctrl-C stops it, kill -9 loses nothing."""

from __future__ import annotations

import json
import os
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.hub_process import Hub, find_processes, is_ready, running_hub, wait_for

BACK_WITHIN = 30  # seconds
OUTCOME = {"outcomes": [{"conversationId": "c1", "outcomeKey": "purchase"}]}
pytestmark = pytest.mark.xdist_group("whole hub")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "a folder") as hub:
        yield hub


def new_workspace(hub: Hub, name: str = "Lumen Books") -> dict:
    done = hub.manage("create_workspace", name, "--environment", "staging", "--full-key", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_acknowledged_reports_survive_ctrl_c_and_kill_9_of_every_process(hub):
    hub.start(from_nothing=True)
    created = new_workspace(hub)
    assert created["slug"] == "lumen-books", "HUB_SAMPLE=0 leaves out the sample, which has this name"
    key = created["secretKey"]
    assert hub.request("/readyz")[0] == 200
    assert hub.request("/api/conversations", {"conversations": [{"conversationId": "c1"}]}, key=key)[0] == 200
    assert hub.request("/api/conversation-outcomes", OUTCOME, key=key)[1]["recorded"] == 1
    assert hub.stop() == 0
    assert hub.processes() == []

    hub.start()
    for n in range(2, 30):
        item = {"conversationId": f"c{n}", "outcomeKey": "purchase"}
        assert hub.request("/api/conversation-outcomes", {"outcomes": [item]}, key=key)[0] == 200
    hub.kill()

    hub.start()
    page = f"/w/{created['slug']}/production/joins.json"
    broken = hub.request(page, key=key)[1]["tables"]["broken"]
    assert {row["conversationId"] for row in broken} == {f"c{n}" for n in range(2, 30)}
    assert hub.request("/api/conversation-outcomes", OUTCOME, key=key)[2]["X-Outcomes-New"] == "0"
    assert hub.stop() == 0


def test_after_the_supervisor_is_killed_the_next_start_is_clean_or_uses_the_database_that_still_runs(hub):
    key = hub.copy_workspace()["secretKey"]
    hub.start()
    os.kill(hub.process.pid, signal.SIGKILL)
    hub.process.wait()
    hub.kill()
    hub.start()
    assert hub.request("/api/conversation-outcomes", OUTCOME, key=key)[0] == 200

    os.kill(hub.process.pid, signal.SIGKILL)
    hub.process.wait()
    wait_for(lambda: not find_processes(hub, "-m"), BACK_WITHIN)  # only PostgreSQL still runs
    hub.start()
    assert is_ready(hub)
    assert hub.stop() == 0


def test_a_hub_may_be_called_under_its_address_of_ipv6(hub):
    hub.settings = {"HUB_HOST": "2001:db8::1"}
    assert (
        json.loads(hub.manage("doctor", "--json").stdout)["checks"]["hosts"]["detail"]
        == "The hub is called [2001:db8::1]."
    )


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({"HUB_HOST": "localhost"}, "localhost"),
        ({"HUB_HOST": "::1"}, "[::1]"),
        ({"ALLOWED_HOSTS": "affidavit.example.com", "BEHIND_TLS": "true"}, "127.0.0.1"),
    ],
    ids=["name", "IPv6", "proxy"],
)
def test_a_hub_answers_at_the_address_that_it_prints_and_a_start_logs_no_error(hub, variables, address):
    hub.settings = variables
    hub.start(seconds=20)
    assert f"at http://{address}:{hub.port}. " in hub.output
    with urllib.request.urlopen(f"http://{address}:{hub.port}/healthz", timeout=10) as answer:
        assert answer.status == 200
    assert '"level"' not in hub.output
