"""The state of one request while a verifier checks it."""

from typing import Any

from affidavit._json import Json

from .envelope import Envelope
from .intent import Intent


class Attempt:
    """The state of one request while it is checked: its facts, and the results of the checks so far."""

    __slots__ = (
        "args_hash",
        "body",
        "content_encoding",
        "content_type",
        "declared_operation",
        "detail",
        "dry_run",
        "envelope",
        "framework_reads_body",
        "header",
        "intent",
        "method",
        "minimum_version",
        "now",
        "path",
        "payload",
        "query",
        "raw_path",
        "request",
    )

    def __init__(
        self,
        header: str | None,
        method: str,
        path: str,
        query: str,
        body: bytes,
        content_type: str | None,
        operation: str | None,
        minimum_version: int | None,
        request: Any,
        raw_path: str | None,
        content_encoding: str | None = None,
        dry_run: bool = False,
        framework_reads_body: bool = False,
    ) -> None:
        self.header = header or ""
        self.method = method.upper()
        self.path = path
        self.query = query
        self.body = body
        self.content_type = content_type
        self.content_encoding = content_encoding
        self.declared_operation = operation
        self.minimum_version = minimum_version
        self.request = request
        self.raw_path = raw_path
        self.dry_run = dry_run
        self.framework_reads_body = framework_reads_body
        self.detail = ""
        self.now: float
        self.envelope: Envelope
        self.payload: dict[str, Json]
        self.intent: Intent
        self.args_hash: str | None = None

    @property
    def known_intent(self) -> Intent | None:
        """Return the intent, once its signature and its form are verified (or assumed, in a dry run); None before."""
        return getattr(self, "intent", None)

    def fail(self, reason: str, detail: str) -> str:
        """Return `reason` and keep `detail`, the cause in plain words: never a secret or a body value."""
        self.detail = detail
        return reason
