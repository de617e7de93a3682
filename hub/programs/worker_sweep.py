"""The sweep for work that no message announced. It runs in a thread of the worker, because beat needs the broker."""

from __future__ import annotations

import logging
import threading
import time

from celery.signals import worker_init
from django.db import connections

from catalog.ingest.tasks import sweep as fold_reports
from workspaces.tasks import sweep as delete_workspaces

SWEEP_EVERY_SECONDS = 10
log = logging.getLogger("affidavit.sweep")


@worker_init.connect
def start_sweeper(**signal_arguments: object) -> None:
    """Start before the worker connects to the broker: while the broker is unreachable, the worker waits for it."""
    threading.Thread(target=sweep_forever, name="sweep", daemon=True).start()


def sweep_forever() -> None:
    while True:
        time.sleep(SWEEP_EVERY_SECONDS)
        sweep_once()


def sweep_once() -> None:
    try:
        fold_reports()
        delete_workspaces()
    except Exception:  # whatever failed: without this thread, work could wait forever
        log.exception("the sweep failed; it runs again in %s s", SWEEP_EVERY_SECONDS)
        connections.close_all()
