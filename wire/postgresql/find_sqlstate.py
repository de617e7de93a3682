"""The SQLSTATE of an error. This module imports no package, because the supervisor writes it into its log."""

from __future__ import annotations


def find_sqlstate(error: BaseException | None) -> str:
    """Return the SQLSTATE of the database's error that led to this one; empty if none did."""
    while error is not None:
        if state := getattr(error, "sqlstate", None):
            return str(state)
        error = error.__cause__ or error.__context__
    return ""
