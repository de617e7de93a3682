"""What log lines say besides their message: the request that they belong to, the code of a database's error."""

from __future__ import annotations

from contextvars import ContextVar

current_request_id: ContextVar[str] = ContextVar("request_id", default="")


def find_sqlstate(error: BaseException | None) -> str:
    """Return the SQLSTATE of the database's error that led to this one; empty if none did."""
    while error is not None:
        if state := getattr(error, "sqlstate", None):
            return str(state)
        error = error.__cause__ or error.__context__
    return ""
