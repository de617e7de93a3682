"""The sender of alerts: threads of the worker, so that a slow target does not hold up the worker's other tasks."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from celery.signals import worker_init, worker_shutting_down
from django.db import connections
from django.utils import timezone

from alerts.delivery.deliver import Claim, claim_target, deliver

SEND_EVERY_SECONDS = 2
PAUSE_SECONDS = 10  # after a failure: a database that is away must not fill the log
THREADS = 4  # targets to which one worker delivers at a time
log = logging.getLogger("affidavit.alerts")


class Sender:
    """Claims targets as long as one of its threads is free."""

    def __init__(self) -> None:
        self._is_stopping = threading.Event()
        self._free = threading.Semaphore(THREADS)
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="alerts")

    def send_due(self) -> int:
        """Start a delivery to each due target while threads are free, and return how many were started."""
        count = 0
        while self._free.acquire(blocking=False):
            claim = None
            try:
                claim = claim_target(now=timezone.now())
            finally:  # also after a failure: each thread that stays taken is lost until the worker is restarted
                if claim is None:
                    self._free.release()
            if claim is None:
                break
            self._pool.submit(self._deliver, claim)
            count += 1
        return count

    def _deliver(self, claim: Claim | None) -> None:
        """Make a delivery, then go on while any target is due.

        A target with a hundred deliveries must not wait for `send_forever` between two of them.
        """
        try:
            while claim is not None:
                deliver(claim)
                claim = None if self._is_stopping.is_set() else claim_target(now=timezone.now())
        except Exception:  # the claim expires, and then the delivery is sent again
            log.exception("an alert could not be delivered")
        finally:
            connections.close_all()  # the next delivery may be an hour away
            self._free.release()

    def stop(self, **signal_arguments: object) -> None:
        """End after the deliveries that have begun: a worker that stops waits for its threads."""
        self._is_stopping.set()


@worker_init.connect
def start_sender(**signal_arguments: object) -> None:
    sender = Sender()
    worker_shutting_down.connect(sender.stop, weak=False)
    threading.Thread(target=send_forever, args=[sender], name="alert sender", daemon=True).start()


def send_forever(sender: Sender) -> None:
    while True:
        time.sleep(SEND_EVERY_SECONDS)
        try:
            sender.send_due()
        except Exception:  # of any kind: if this thread ended, no alert would be delivered
            log.exception("alerts could not be sent; the next try is in %s s", PAUSE_SECONDS)
            connections.close_all()
            time.sleep(PAUSE_SECONDS)
