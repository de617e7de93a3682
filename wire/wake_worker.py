"""Wake the worker after a commit, without waiting for the broker and without caring whether it is there.

What is rung for stands in a table and the worker looks for it there; a lost ring costs seconds, nothing else.
"""

import logging
import os
import threading
from queue import Full, Queue

from celery import Task
from django.db import transaction

log = logging.getLogger("affidavit.doorbell")
PENDING = 1000


def ring(task: Task, *ids: int | str) -> None:
    """Send `task` with these ids after the current transaction has committed."""
    transaction.on_commit(lambda: _ringer().enqueue(task, ids))


class Ringer:
    """One daemon thread of this process that talks to the broker."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._waiting: Queue[tuple[Task, tuple[int | str, ...]]] = Queue(PENDING)
        threading.Thread(target=self._run, name="doorbell", daemon=True).start()

    def enqueue(self, task: Task, ids: tuple[int | str, ...]) -> None:
        try:
            self._waiting.put_nowait((task, ids))
        except Full:
            log.warning("doorbell queue is full; the sweep will find the work")

    def _run(self) -> None:
        while True:
            task, ids = self._waiting.get()
            try:
                task.apply_async(args=ids, retry=False)
            except Exception as error:  # whatever a broker raises: the sweep finds the work
                log.warning("doorbell not delivered: %s", type(error).__name__)


_lock = threading.Lock()
_current: Ringer | None = None


def _ringer() -> Ringer:
    """This process's ringer; a fork has no threads and gets its own."""
    global _current
    with _lock:
        if _current is None or _current.pid != os.getpid():
            _current = Ringer()
        return _current
