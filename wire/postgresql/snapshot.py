"""Reads of one moment: what others write meanwhile is in all figures of an answer or in none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from wire.postgresql.replica import get_read_connection

BEGIN_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


@contextmanager
def read_snapshot() -> Iterator[None]:
    """Read everything in the block as of its first statement, and refuse to write.

    A transaction that is already open stays as it is: its reads may be of several moments.
    """
    connection = get_read_connection()
    if not transaction.get_autocommit(using=connection.alias):
        yield
        return
    with transaction.atomic(using=connection.alias):
        with connection.cursor() as cursor:
            cursor.execute(BEGIN_SNAPSHOT)
        yield
        transaction.set_rollback(True, using=connection.alias)  # nothing to commit, and a commit may fail
