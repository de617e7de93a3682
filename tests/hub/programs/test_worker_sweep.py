"""Without the broker nothing is lost: the worker looks for work by itself."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest

from hub.programs import worker_sweep
from tests.hub.hub_process import running_hub

REPORT = {"observations": [{"method": "GET", "path": "/orders", "status": 200, "count": 1}]}


@pytest.mark.xdist_group("whole hub")
def test_a_report_is_folded_without_a_broker(tmp_path: Path):
    with running_hub(tmp_path) as hub:
        hub.settings["CELERY_BROKER_URL"] = "redis://127.0.0.1:1/0"
        key = hub.copy_workspace()["secretKey"]
        hub.start()
        assert hub.request("/api/witness-reports", {"reportId": str(uuid.uuid4()), **REPORT}, key=key)[0] == 202
        deadline = time.monotonic() + 120
        while not (operations := hub.request("/api/catalog", key=key)[1]["operations"]) and time.monotonic() < deadline:
            time.sleep(0.5)
        assert [operation["path"] for operation in operations] == ["/orders"]


def test_a_round_that_fails_is_logged_and_the_next_one_comes(monkeypatch, caplog):
    rounds = iter([ValueError("one"), None, KeyboardInterrupt()])

    def sweep_or_fail() -> None:
        if failure := next(rounds):
            raise failure

    monkeypatch.setattr(worker_sweep, "fold_reports", sweep_or_fail)
    monkeypatch.setattr(worker_sweep, "delete_workspaces", lambda: None)
    monkeypatch.setattr(worker_sweep, "SWEEP_EVERY_SECONDS", 0)
    with pytest.raises(KeyboardInterrupt):
        worker_sweep.sweep_forever()
    assert [record.levelname for record in caplog.records] == ["ERROR"]
