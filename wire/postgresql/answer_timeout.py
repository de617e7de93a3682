"""Bound how long this thread waits for answers of the database.

`statement_timeout` is kept by the server, so it does not end the wait for a server that is frozen, or whose machine
vanished from the network.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from django.db import connections
from psycopg.pq import TransactionStatus

INTERVAL = 0.2  # seconds between two looks, once the time is over


@contextmanager
def bound_answers(seconds: float) -> Iterator[None]:
    """Let statements of this block fail with OperationalError while they wait longer than until `seconds` from now."""
    wrappers = list(connections.all())  # those of this thread
    is_over = threading.Event()
    watch = threading.Thread(target=_disconnect_waiting, args=(wrappers, seconds, is_over), daemon=True)
    watch.start()
    try:
        yield
    finally:
        is_over.set()
        watch.join()


def _disconnect_waiting(wrappers: Sequence[Any], seconds: float, is_over: threading.Event) -> None:
    is_block_over = is_over.wait(seconds)
    while not is_block_over:
        for wrapper in wrappers:
            _disconnect_if_waiting(wrapper.connection)
        is_block_over = is_over.wait(INTERVAL)


def _disconnect_if_waiting(connection: psycopg.Connection[Any] | None) -> None:
    """End both directions of the connection, if a statement waits for its answer. Its thread sees that at once."""
    with suppress(OSError, psycopg.Error):  # the thread has just closed it
        if connection is not None and connection.info.transaction_status == TransactionStatus.ACTIVE:
            with socket.socket(fileno=os.dup(connection.fileno())) as copy:
                copy.shutdown(socket.SHUT_RDWR)
