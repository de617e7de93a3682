"""The sweep for work that no doorbell announced. It runs in a thread of the worker, as beat would need the broker."""

from __future__ import annotations

import logging
import threading
import time

from celery.signals import worker_init
from django.db import connections

from catalog.tasks import sweep

EVERY_SECONDS = 10
log = logging.getLogger("affidavit.sweep")


@worker_init.connect
def start_thread(**signal_arguments: object) -> None:
    """Start before the worker looks for the broker, which it does for as long as the broker is away."""
    threading.Thread(target=sweep_forever, name="sweep", daemon=True).start()


def sweep_forever() -> None:
    while True:
        time.sleep(EVERY_SECONDS)
        sweep_once()


def sweep_once() -> None:
    try:
        sweep()
    except Exception:  # whatever failed: were the thread to end, work would wait for good
        log.exception("the sweep failed; it goes on in %s s", EVERY_SECONDS)
        connections.close_all()
