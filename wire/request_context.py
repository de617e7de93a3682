"""Facts for logs, audit log and limits: the id and the client address of the current request."""

from __future__ import annotations

from contextvars import ContextVar

# Both are empty outside a request.
current_request_id: ContextVar[str] = ContextVar("request_id", default="")
current_client_address: ContextVar[str] = ContextVar("current_client_address", default="")  # wire.http.client_address
