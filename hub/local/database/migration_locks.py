"""Locks of the database: only one migrates at a time, and nobody does while a backup is being written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def lock_migrations() -> Iterator[None]:
    """Let only one start or command migrate at a time, also across hosts; the second finds all tables made."""
    with _hold_lock("pg_advisory_xact_lock", "hub.database"):
        yield


@contextmanager
def lock_schema() -> Iterator[None]:
    """Wait until no backup is being written, and let none begin before the end of the block."""
    with _hold_lock("pg_advisory_xact_lock", "hub.schema"):
        yield


@contextmanager
def hold_back_migrations() -> Iterator[None]:
    """Let no migration begin before the end of the block. Starts and commands that migrate nothing do not wait."""
    with _hold_lock("pg_advisory_xact_lock_shared", "hub.schema"):
        yield


@contextmanager
def _hold_lock(function: str, name: str) -> Iterator[None]:
    lock_connection = connection.copy()
    try:
        lock_connection.set_autocommit(False)  # the lock is the transaction's, because poolers lose a session's lock
        with lock_connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [name])
        yield
    finally:
        lock_connection.close()
