"""Locks of the database with a name, which a transaction holds until its end."""

from __future__ import annotations

from django.db import connection


def hold_named_lock(name: str, *, is_shared: bool = False) -> None:
    """Wait for the lock with this name, and hold it until the transaction ends.

    is_shared: whether others may hold it at the same time if they share it, too.
    """
    function = "pg_advisory_xact_lock_shared" if is_shared else "pg_advisory_xact_lock"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [name])
