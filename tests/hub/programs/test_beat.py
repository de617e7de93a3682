"""Beat's own application sends tasks that the worker has, without importing the worker's code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

from hub.celery import app as worker_app

SEND = """
import json
from hub.programs.beat import app
from django.apps import apps
for entry in app.conf.beat_schedule.values():
    app.send_task(entry["task"])
print(json.dumps({"tasks": [entry["task"] for entry in app.conf.beat_schedule.values()], "ready": apps.ready}))
"""


def test_the_worker_has_each_task_of_the_schedule(tmp_path: Path) -> None:
    (tmp_path / "broker").mkdir()
    (tmp_path / "broker-control").mkdir()
    environment = {**os.environ, "HUB_DATA_DIR": str(tmp_path)}
    process = subprocess.run(
        [sys.executable, "-c", SEND], env=environment, cwd=settings.BASE_DIR, check=True, capture_output=True, text=True
    )
    sent = json.loads(process.stdout)
    worker_app.loader.import_default_modules()
    assert set(sent["tasks"]) <= set(worker_app.tasks)
    assert not sent["ready"]
    messages = [json.loads(path.read_text()) for path in (tmp_path / "broker").glob("*.msg")]
    assert sorted(message["headers"]["task"] for message in messages) == sorted(sent["tasks"])
