"""A request that carried an intent, as the backend that received it describes it (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAX_METHOD, MAX_PATH = 32, 8192  # characters


@dataclass(frozen=True)
class ReceivedRequest:
    """A request to verify.

    path: the path as it was routed.
    query: the raw query, without the question mark.
    step_up: whether the backend has done its stronger verification.
    """

    header: str
    method: str
    path: str
    query: str = ""
    body: bytes = b""
    content_type: str = ""
    content_encoding: str = ""
    step_up: bool = False

    def verifier_arguments(self) -> dict[str, Any]:
        """Return the arguments of an IntentVerifier's `verify` and `explain`."""
        return {
            "header": self.header,
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "body": self.body,
            "content_type": self.content_type,
            "request": self,
            "content_encoding": self.content_encoding,
            # It is not known here whether the path was decoded, so an escaped slash in it is always refused. Any other
            # % counts as an ordinary character of a decoded path.
            "raw_path": self.path if "%2f" in self.path.lower() else None,
        }
