"""Which errors mean that the database cannot be used at the moment."""

from __future__ import annotations

from django.db import DatabaseError, DataError, IntegrityError

from wire.postgresql.sqlstates import LOCK_NOT_AVAILABLE, read_sqlstate


def is_outage(error: BaseException) -> bool:
    """Return whether the database cannot be used at the moment.

    It is unreachable, full, read-only or shutting down; or it aborted the transaction, because of a conflict with
    another one or because a lock was not released in time.
    """
    if not isinstance(error, DatabaseError) or isinstance(error, IntegrityError | DataError):
        return False
    state = read_sqlstate(error)
    # No state: connection lost. 08 connection, 25006 read-only, 40 deadlock, 53 resources, 55P03 a lock that was not
    # released in time, 57 shut down, 58 I/O.
    return not state or state in {"25006", LOCK_NOT_AVAILABLE} or state[:2] in {"08", "40", "53", "57", "58"}
