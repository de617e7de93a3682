"""The address of the client of the current request, for the audit log and for limits."""

from __future__ import annotations

from contextvars import ContextVar

# Empty outside a request. wire.http.client_address sets it for each.
current_client_address: ContextVar[str] = ContextVar("current_client_address", default="")
