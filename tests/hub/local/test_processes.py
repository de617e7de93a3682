"""The processes of a hub: what they log, how much memory they use when idle, and that they replace dead connections."""

from __future__ import annotations

import json
import os
import signal
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hub.health import KEPT_SECONDS
from tests.hub.hub_process import READY, Hub, find_processes, is_ready, read_parent, read_process, running_hub, wait_for

MAX_IDLE_BYTES = 350 * 1024 * 1024
BACK_WITHIN = 60  # seconds
OBSERVATION = {"method": "GET", "path": "/orders", "status": 200, "count": 1}
REQUESTS, CLIENTS = 50, 8
pytestmark = pytest.mark.xdist_group("whole hub")


@pytest.fixture(scope="module")
def new_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("a folder")) as hub:
        hub.settings["LOG_LEVEL"] = "INFO"
        yield hub


@pytest.fixture(scope="module")
def key(new_hub: Hub) -> str:
    return str(new_hub.copy_workspace()["secretKey"])


@pytest.fixture(scope="module")
def hub(new_hub: Hub, key: str) -> Hub:
    new_hub.start()
    return new_hub


def read_lines(hub: Hub) -> list[dict[str, Any]]:
    """Return all lines of the log. Raises ValueError if one is not JSON."""
    return [json.loads(line) for line in hub.output.splitlines() if line and not READY.match(line)]


def list_tree(hub: Hub) -> set[int]:
    """Return the processes of a hub and all descendants. Those of PostgreSQL cannot be found by their environment."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            parents[int(entry.name)] = read_parent(int(entry.name))
    tree = set(hub.processes())
    while new := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= new
    return tree


def measure_memory(pid: int) -> int:
    """Return the bytes of memory of a process, with its share of common memory (PSS); 0 if it has ended."""
    lines = read_process(pid, "smaps_rollup").decode().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def test_all_processes_together_use_little_memory_when_idle(hub):
    wait_for(lambda: is_ready(hub) and find_processes(hub, "celery", "beat"), BACK_WITHIN)
    time.sleep(5)
    sizes = {pid: measure_memory(pid) for pid in list_tree(hub)}
    assert sum(sizes.values()) > 100 * 1024 * 1024, "they were not measured"
    assert sum(sizes.values()) <= MAX_IDLE_BYTES, sizes


def test_log_lines_of_a_task_have_the_id_of_the_request_that_caused_it(hub, key):
    body = {"reportId": str(uuid.uuid4()), "observations": [OBSERVATION]}
    request_id = f"test:{uuid.uuid4()}"
    assert hub.request("/api/witness-reports", body, key=key, headers={"X-Request-Id": request_id})[0] == 202

    def is_logged() -> bool:
        lines = [line for line in read_lines(hub) if line.get("requestId") == request_id]
        return any(line["logger"] == "celery.app.trace" and "catalog.tasks.fold" in line["message"] for line in lines)

    wait_for(is_logged, BACK_WITHIN)


def post_outcomes(hub: Hub, key: str) -> Counter[int]:
    """Send requests from several clients, enough for every thread of both web processes; count the statuses."""

    def send(number: int) -> int:
        outcome = {"conversationId": f"c{number}", "outcomeKey": "purchase"}
        return hub.request("/api/conversation-outcomes", {"outcomes": [outcome]}, key=key)[0]

    with ThreadPoolExecutor(CLIENTS) as pool:
        return Counter(pool.map(send, range(REQUESTS)))


def test_no_request_is_refused_once_the_hub_is_ready_after_the_database_was_killed(hub, key):
    """Because dead connections are replaced."""
    assert post_outcomes(hub, key) == {200: REQUESTS}
    os.kill(find_processes(hub, "-D")[0], signal.SIGKILL)
    time.sleep(1)  # by then every connection is closed
    wait_for(lambda: is_ready(hub), BACK_WITHIN)
    assert post_outcomes(hub, key) == {200: REQUESTS}


def test_monitors_get_an_answer_while_the_database_is_frozen(hub):
    headers = {"Authorization": f"Bearer {(hub.folder / 'var/metrics.token').read_text()}"}
    assert hub.request("/metrics", headers=headers)[0] == 200
    server = int((hub.folder / "var/postgres/postmaster.pid").read_text().split()[0])
    frozen = [server, *map(int, Path(f"/proc/{server}/task/{server}/children").read_text().split())]
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(KEPT_SECONDS)
        with ThreadPoolExecutor(16) as pool:  # more than there are threads for requests
            answers = list(pool.map(hub.request, ["/readyz"] * 16))
        assert {(status, body["checks"]["database"]["ok"]) for status, body, _ in answers} == {(503, False)}
        assert (hub.request("/metrics", headers=headers)[0], hub.request("/healthz")[0]) == (503, 200)
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
    wait_for(lambda: is_ready(hub), 30)


def test_every_line_is_json_also_when_processes_fail_and_stop(hub):
    broker = hub.folder / "var/broker"
    broker.rename(broker.with_name("broker.away"))
    os.kill(find_processes(hub, "-D")[0], signal.SIGKILL)
    wait_for(lambda: any(line["message"].startswith("worker ended") for line in read_lines(hub)), BACK_WITHIN)
    wait_for(lambda: any(line["message"].startswith("PostgreSQL ended") for line in read_lines(hub)), BACK_WITHIN)
    broker.with_name("broker.away").rename(broker)
    for name in ("worker", "beat"):
        wait_for(lambda name=name: find_processes(hub, "celery", name), BACK_WITHIN)
        os.kill(find_processes(hub, "celery", name)[0], signal.SIGTERM)
    wait_for(lambda: is_ready(hub), BACK_WITHIN)
    assert hub.stop() == 0
    loggers = {line["logger"] for line in read_lines(hub)}
    assert {"affidavit.up", "celery.worker", "celery.beat"} <= loggers
