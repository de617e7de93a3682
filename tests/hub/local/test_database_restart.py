"""After a restart of the database, every request is answered as before, because dead connections are replaced."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.hub.hub_process import Hub, find_processes, is_ready, running_hub, wait_for

REQUESTS, CLIENTS = 50, 8
pytestmark = pytest.mark.xdist_group("whole hub")


def post_outcomes(hub: Hub, key: str) -> Counter[int]:
    """Send requests from several clients, enough for every thread of both web processes; count the statuses."""

    def send(number: int) -> int:
        outcome = {"conversationId": f"c{number}", "outcomeKey": "purchase"}
        return hub.request("/api/conversation-outcomes", {"outcomes": [outcome]}, key=key)[0]

    with ThreadPoolExecutor(CLIENTS) as pool:
        return Counter(pool.map(send, range(REQUESTS)))


def test_no_request_is_refused_once_the_hub_is_ready_after_the_database_was_killed(tmp_path: Path):
    with running_hub(tmp_path) as hub:
        key = hub.copy_workspace()["secretKey"]
        hub.start()
        assert post_outcomes(hub, key) == {200: REQUESTS}
        os.kill(find_processes(hub, "-D")[0], signal.SIGKILL)
        time.sleep(1)  # by then every connection is closed
        wait_for(lambda: is_ready(hub), 60)
        assert post_outcomes(hub, key) == {200: REQUESTS}
