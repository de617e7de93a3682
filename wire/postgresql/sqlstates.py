"""The SQLSTATEs of errors. This module imports no package, because the supervisor writes them into its log."""

from __future__ import annotations

UNDEFINED_TABLE, INSUFFICIENT_PRIVILEGE, LOCK_NOT_AVAILABLE = "42P01", "42501", "55P03"


def find_sqlstate(error: BaseException | None) -> str:
    """Return the SQLSTATE of the database's error that led to this one; empty if none did."""
    while error is not None:
        if state := getattr(error, "sqlstate", None):
            return str(state)
        error = error.__cause__ or error.__context__
    return ""


def read_sqlstate(error: BaseException) -> str:
    """Return the SQLSTATE of an error of Django; empty if the server sent none, as when the connection was lost.

    An earlier error that led to this one does not count.
    """
    return str(getattr(error.__cause__, "sqlstate", None) or "")


def is_lock_timeout(error: BaseException) -> bool:
    """Return whether a statement waited for a lock longer than `lock_timeout`."""
    return read_sqlstate(error) == LOCK_NOT_AVAILABLE


def is_missing_table(error: BaseException) -> bool:
    return read_sqlstate(error) == UNDEFINED_TABLE
