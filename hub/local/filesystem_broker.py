"""The broker of one machine: kombu's folder of files, but messages appear complete, and equal ones wait only once.

kombu opens a message under its final name and then writes it. A worker that reads the file in between finds it empty
and exits. kombu also writes a file for each message. Here, messages with the same task and arguments share one file,
because one run does the work of all.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

from celery.signals import worker_shutting_down
from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps, loads


class Channel(filesystem.Channel):
    """The folder as kombu's channel."""

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]  # as kombu's own
        """Write under a hidden name, then rename, so that a reader finds it complete.

        A message that replaces an equal message takes over its age, and so its place in the queue.
        """
        path = Path(self.data_folder_out, f"{name_message(payload)}.{queue}.msg")
        hidden_path = path.with_name(f".{uuid.uuid4()}")
        try:
            hidden_path.write_text(dumps(payload))
            with suppress(FileNotFoundError):
                age = path.stat().st_mtime_ns
                os.utime(hidden_path, ns=(age, age))
            hidden_path.rename(path)
        except OSError as error:
            hidden_path.unlink(missing_ok=True)
            raise ChannelError(f"cannot add a message to {self.data_folder_out}") from error

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """Take the oldest message; raises Empty. It is renamed first, so that no other worker takes it too."""
        for _, path in sorted(self._list_messages(queue)):
            taken_path = path.with_name(f".{uuid.uuid4()}")
            with suppress(FileNotFoundError):
                path.rename(taken_path)
                payload = taken_path.read_text()
                taken_path.unlink()
                return loads(payload)
        raise Empty

    def _list_messages(self, queue: str) -> Iterator[tuple[int, Path]]:
        """Yield when each message of a queue was written, in ns, and its path."""
        for entry in os.scandir(self.data_folder_in):
            if entry.name.partition(".")[2] == f"{queue}.msg":
                with suppress(FileNotFoundError):
                    yield entry.stat().st_mtime_ns, Path(entry.path)


def name_message(payload: Any) -> str:
    """Return the same name for the same task with the same arguments; any other message gets a name of its own."""
    task = payload.get("headers", {}).get("task")
    if not task:
        return str(uuid.uuid4())
    return hashlib.sha256(f"{task} {payload['body']}".encode()).hexdigest()[:32]


class Transport(filesystem.Transport):
    Channel = Channel
    polling_interval = 0.2  # seconds between looks into an empty folder

    is_stopping = False  # True in a worker that was asked to stop: it waits for no more messages

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> None:
        """Deliver a message; raises TimeoutError if none comes in time, or at once in a worker that is to stop.

        Celery checks whether it is to stop only between two calls of this method, and makes one more call afterwards.
        With kombu's own method, each call takes the whole timeout.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                self.cycle.get(self._deliver)  # type: ignore[union-attr]  # every transport has a cycle
                return
            except Empty:
                if self.is_stopping or (deadline is not None and time.monotonic() >= deadline):
                    raise TimeoutError from None
                time.sleep(self.polling_interval)


@worker_shutting_down.connect
def wait_no_longer(**signal_arguments: object) -> None:
    """End the wait for messages, so that a worker stops at once and not after two timeouts."""
    Transport.is_stopping = True
