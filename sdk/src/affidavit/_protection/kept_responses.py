"""Which responses are kept for retries, for how long, and without which headers (contract §3, "toolCallId")."""

from collections.abc import Iterable

from .deliveries import StoredResponse

RETENTION = 86_400
"""Seconds that a response is kept for retries."""
MAX_KEPT = 1024 * 1024
"""Bytes of the longest response that is kept, unless the app says otherwise."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods of calls that only read: no response to them is kept, and a retry runs the call again."""
_RETRY_STATUSES = frozenset({408, 425, 429})
# These headers belong to one connection or one moment; a kept cookie would be a stored credential.
_HEADERS_NOT_KEPT = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "date", "server", "set-cookie"}
)


def asks_for_retry(status: int) -> bool:
    """Return whether a response of this status is not kept, so that a retry runs the call again."""
    return status >= 500 or status in _RETRY_STATUSES


def keep_response(status: int, headers: Iterable[tuple[str, str]], body: bytes) -> StoredResponse:
    """Return a response as it is kept for retries: without the headers that belong to one connection or moment."""
    kept_headers = [(name, value) for name, value in headers if name.lower() not in _HEADERS_NOT_KEPT]
    return StoredResponse(status, tuple(kept_headers), body)
