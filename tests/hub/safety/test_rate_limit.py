"""The rate limit of the whole hub: all web processes together let no more requests pass than the setting says."""

from __future__ import annotations

import json
import math
import threading
import time
from pathlib import Path

import pytest

from tests.hub.hub_process import running_hub

RATE, SECONDS, CLIENTS = 20, 3.0, 6
BODY = {"outcomes": []}


@pytest.mark.xdist_group("whole hub")
def test_two_web_processes_share_the_rate_of_a_key_and_another_key_is_unaffected(tmp_path: Path):
    with running_hub(tmp_path) as hub:
        hub.settings = {"RATE_LIMIT": str(RATE)}
        hub.start()
        first, second = (
            json.loads(hub.manage("create_workspace", name, "--json").stdout)["reportKey"] for name in ("One", "Two")
        )
        statuses: list[int] = []
        end_time = time.monotonic() + SECONDS

        def send() -> None:
            while time.monotonic() < end_time:
                status, _, headers = hub.request("/api/conversation-outcomes", BODY, key=first)
                assert status == 200 or (status == 429 and headers["Retry-After"] == "1")
                statuses.append(status)

        threads = [threading.Thread(target=send) for _ in range(CLIENTS)]
        start_time = time.monotonic()
        for thread in threads:
            thread.start()
        calm = [hub.request("/api/conversation-outcomes", BODY, key=second)[0] for _ in range(10)]
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - start_time
    assert calm == [200] * 10
    assert RATE * SECONDS * 0.8 <= statuses.count(200) <= math.ceil(RATE * seconds) + RATE
    assert statuses.count(429) > statuses.count(200)
