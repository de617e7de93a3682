"""Several workers of one machine share the messages of a RabbitMQ, and each stops soon when it is asked to."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from celery import Celery
from django.conf import settings

from tests.hub.programs.rabbitmq import running_rabbitmq

WORKER = [sys.executable, "-m", "hub.programs", "celery", "worker"]
PATIENCE = 40  # seconds
STOP_SECONDS = 5


@contextmanager
def running_worker(folder: Path, broker: str) -> Iterator[Path]:
    """Run a worker until the end of the block; yield the file of its log. The worker must stop soon."""
    folder.mkdir()
    environment = {**os.environ, "HUB_DATA_DIR": str(folder), "CELERY_BROKER_URL": broker}
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(WORKER, env=environment, cwd=settings.BASE_DIR, stdout=output, stderr=output)
    try:
        yield log
    finally:
        process.terminate()
        try:
            process.wait(timeout=STOP_SECONDS)
        finally:
            process.kill()


def test_each_worker_of_a_machine_answers_through_rabbitmq(tmp_path: Path) -> None:
    (tmp_path / "broker").mkdir()
    with running_rabbitmq(tmp_path / "broker") as port:
        broker = f"amqp://guest:guest@127.0.0.1:{port}//"
        with running_worker(tmp_path / "first", broker) as first, running_worker(tmp_path / "second", broker) as second:
            control = Celery(broker=broker).control
            deadline = time.monotonic() + PATIENCE
            while len(control.ping(timeout=2, limit=2)) < 2 and time.monotonic() < deadline:
                pass
            assert len(control.ping(timeout=5, limit=2)) == 2
            assert "RESOURCE_LOCKED" not in first.read_text() + second.read_text()
