"""The sweep for work that no doorbell announced, in a thread of the worker: it needs no broker, beat does."""

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
def start(**of_the_worker: object) -> None:
    """Before the worker looks for the broker, which it does for as long as the broker is away."""
    threading.Thread(target=run, name="sweep", daemon=True).start()


def run() -> None:
    while True:
        time.sleep(EVERY_SECONDS)
        once()


def once() -> None:
    try:
        sweep()
    except Exception:  # whatever it was, work would wait for good if the thread ended over it
        log.exception("the sweep failed; it goes on in %s s", EVERY_SECONDS)
        connections.close_all()
