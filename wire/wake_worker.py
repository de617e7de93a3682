"""Wake the worker after a commit, without waiting for the broker and without failing if it is unreachable.

The work itself is stored in a table, where the worker's sweep finds it: a lost message only delays it by seconds.
"""

from __future__ import annotations

import logging
import os
import threading
from queue import Full, Queue
from typing import Any

from celery import Task
from django.db import transaction

AnyTask = Task[Any, Any]

log = logging.getLogger("affidavit.doorbell")
MAX_PENDING = 1000


def send_after_commit(task: AnyTask, *ids: int | str) -> None:
    """Send `task` with these ids once the current transaction has committed."""
    transaction.on_commit(lambda: _get_sender().enqueue(task, ids))


class _Sender:
    """One daemon thread of this process that talks to the broker."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._messages: Queue[tuple[AnyTask, tuple[int | str, ...]]] = Queue(MAX_PENDING)
        threading.Thread(target=self._run, name="doorbell", daemon=True).start()

    def enqueue(self, task: AnyTask, ids: tuple[int | str, ...]) -> None:
        try:
            self._messages.put_nowait((task, ids))
        except Full:
            log.warning("doorbell queue is full; the sweep will find the work")

    def _run(self) -> None:
        while True:
            task, ids = self._messages.get()
            try:
                task.apply_async(args=ids, retry=False)
            except Exception as error:  # whatever a broker raises: the sweep finds the work
                log.warning("doorbell not delivered: %s", type(error).__name__)


_lock = threading.Lock()
_sender: _Sender | None = None


def _get_sender() -> _Sender:
    """Return this process's sender; a fork has no threads and gets one of its own."""
    global _sender
    with _lock:
        if _sender is None or _sender.pid != os.getpid():
            _sender = _Sender()
        return _sender
