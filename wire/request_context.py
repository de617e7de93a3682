"""Facts for logs, audit log and limits: the current request's id and client address, and the SQLSTATE of an error."""

from __future__ import annotations

from contextvars import ContextVar

# Both are empty outside a request.
current_request_id: ContextVar[str] = ContextVar("request_id", default="")
current_client_address: ContextVar[str] = ContextVar("current_client_address", default="")  # wire.http.client_address


def find_sqlstate(error: BaseException | None) -> str:
    """Return the SQLSTATE of the database's error that led to this one; empty if none did."""
    while error is not None:
        if state := getattr(error, "sqlstate", None):
            return str(state)
        error = error.__cause__ or error.__context__
    return ""
