"""One reported verification of an intent (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

ACCEPTED = "accepted"


@dataclass(frozen=True)
class Verification:
    """One verification as its verifier reported it, or `count` identical ones.

    result: `accepted` or a reason.
    version: 1, 2, or 0 if not reported.
    operation: a template, empty if not reported.
    secret: the first 8 characters of the signing secret that verified, empty if not reported.
    """

    result: str
    occurred_at: datetime
    version: int = 0
    operation: str = ""
    tool_call_id: str = ""
    count: int = 1
    secret: str = ""
