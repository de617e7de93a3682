"""A broker that refuses the hub counts as away: the worker looks for work by itself, and the hub goes on."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest
from kombu import Connection, Queue

from tests.hub.hub_process import Hub, running_hub
from tests.hub.programs.rabbitmq import running_rabbitmq

REPORT = {"observations": [{"method": "GET", "path": "/orders", "status": 200, "count": 1}]}
PATIENCE = 40  # seconds


def assert_reports_are_folded(hub: Hub, key: str) -> None:
    assert hub.request("/api/witness-reports", {"reportId": str(uuid.uuid4()), **REPORT}, key=key)[0] == 202
    deadline = time.monotonic() + PATIENCE
    while not (operations := hub.request("/api/catalog", key=key)[1]["operations"]) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert [operation["path"] for operation in operations] == ["/orders"]


@pytest.mark.xdist_group("whole hub")
def test_rabbitmq_that_refuses_the_password_or_the_queue_counts_as_away(tmp_path: Path):
    (tmp_path / "broker").mkdir()
    with running_rabbitmq(tmp_path / "broker") as port:
        with Connection(f"amqp://guest:guest@127.0.0.1:{port}//") as connection:  # as another version may have made it
            Queue("celery", queue_arguments={"x-queue-type": "quorum"}).bind(connection.default_channel).declare()
        for password in ("wrong", "guest"):
            with running_hub(tmp_path / password) as hub:
                hub.settings["CELERY_BROKER_URL"] = f"amqp://guest:{password}@127.0.0.1:{port}//"
                key = hub.copy_workspace()["secretKey"]
                hub.start()
                assert_reports_are_folded(hub, key)
                assert hub.stop() == 0
                assert " ended with status" not in hub.output, "each end counts towards those after which the hub stops"
