"""Wake the worker after a commit, without waiting for the broker and without failing if it is unreachable.

The work itself is stored in a table, where the worker's sweep finds it: a lost message only delays it by seconds.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from contextvars import Context, copy_context
from typing import Any

from celery import Task
from django.db import transaction

from wire.request_context import current_request_id

AnyTask = Task[Any, Any]
Message = tuple[AnyTask, tuple[int | str, ...]]

log = logging.getLogger("affidavit.doorbell")
MAX_PENDING = 1000
PAUSE_SECONDS = 0.25  # between two sends of the same message by one process
REQUEST_ID_HEADER = "requestId"  # a header of each message: the id of the request that sent the message
EXPIRE_SECONDS = 60  # after this, a message that no worker took expires; the sweep has found its work by then
# A task whose work no sweep finds has a longer time of its own, `expires`.


def send_after_commit(task: AnyTask, *ids: int | str) -> None:
    """Send `task` with these ids once the current transaction has committed.

    Of equal messages that wait, only the first is sent, in the context of its sender. Its task finds the work of all of
    them.
    """
    context = copy_context()
    transaction.on_commit(lambda: _enqueue((task, ids), context))


def _enqueue(message: Message, context: Context) -> None:
    try:
        _get_sender().enqueue(message, context)
    except RuntimeError as error:  # the system has no thread left: the sweep finds the work
        _log_failure(error)


def _log_failure(error: Exception) -> None:
    log.warning("doorbell not delivered: %s", type(error).__name__)


class _Sender:
    """One daemon thread of this process that talks to the broker."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._pending: dict[Message, Context] = {}  # in their order, each with the context of its sender
        self._pending_change = threading.Condition()
        threading.Thread(target=self._run, name="doorbell", daemon=True).start()

    def enqueue(self, message: Message, context: Context) -> None:
        with self._pending_change:
            if len(self._pending) < MAX_PENDING:
                self._pending.setdefault(message, context)
                self._pending_change.notify()
            elif message not in self._pending:
                log.warning("doorbell queue is full; the sweep will find the work")

    def _run(self) -> None:
        while True:
            for message, context in self._take_pending():
                try:
                    context.run(_send, *message)
                except Exception as error:  # whatever a broker raises: the sweep finds the work
                    _log_failure(error)
            time.sleep(PAUSE_SECONDS)

    def _take_pending(self) -> list[tuple[Message, Context]]:
        """Wait for messages and return all that wait. Later messages are sent in the next round."""
        with self._pending_change:
            self._pending_change.wait_for(lambda: self._pending)
            messages = list(self._pending.items())
            self._pending.clear()
            return messages


def _send(task: AnyTask, ids: tuple[int | str, ...]) -> None:
    """Send one message with the id of the request that caused it, and with that request's trace, if any."""
    request_id = current_request_id.get()
    headers = {REQUEST_ID_HEADER: request_id} if request_id else {}
    task.apply_async(args=ids, retry=False, expires=task.expires or EXPIRE_SECONDS, headers=headers)


_lock = threading.Lock()
_sender: _Sender | None = None


def _get_sender() -> _Sender:
    """Return this process's sender. A forked process does not inherit the thread, so it gets a sender of its own."""
    global _sender
    with _lock:
        if _sender is None or _sender.pid != os.getpid():
            _sender = _Sender()
        return _sender
