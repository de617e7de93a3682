"""After a restart of the database, every request is answered as before: dead connections are replaced unseen."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.hub.running import Hub, running_hub

REQUESTS, CLIENTS = 50, 8
pytestmark = pytest.mark.xdist_group("whole hub")


def post_outcomes(hub: Hub, key: str) -> Counter[int]:
    """Send requests from several clients, so that every thread of both web processes has some; count the statuses."""

    def send(number: int) -> int:
        outcome = {"conversationId": f"c{number}", "outcomeKey": "purchase"}
        return hub.request("/api/conversation-outcomes", {"outcomes": [outcome]}, key=key)[0]

    with ThreadPoolExecutor(CLIENTS) as pool:
        return Counter(pool.map(send, range(REQUESTS)))


def find_postmaster(hub: Hub) -> int:
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in hub.processes()}
    return next(pid for pid, line in lines.items() if line[0].endswith(b"postgres") and b"-D" in line)


def is_ready(hub: Hub) -> bool:
    return hub.request("/readyz")[0] == 200


def test_no_request_is_refused_once_the_hub_is_ready_after_the_database_was_killed(tmp_path: Path):
    with running_hub(tmp_path) as hub:
        hub.start()
        key = json.loads(hub.manage("create_workspace", "Tea House", "--full-key", "--json").stdout)["secretKey"]
        assert post_outcomes(hub, key) == {200: REQUESTS}
        os.kill(find_postmaster(hub), signal.SIGKILL)
        deadline = time.monotonic() + 60
        time.sleep(1)  # until every connection is closed
        while not is_ready(hub) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert post_outcomes(hub, key) == {200: REQUESTS}
