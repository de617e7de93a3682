"""Which verifications a page is asked to show, out of its address (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from affidavit import REASONS

VERSIONS = {"1": 1, "2": 2}


@dataclass(frozen=True)
class Filters:
    """An empty string, or version 0, leaves that side open. `fault` says what could not be read."""

    reason: str = ""
    version: int = 0
    operation: str = ""
    fault: str = ""

    def __bool__(self) -> bool:
        return bool(self.reason or self.version or self.operation)


def parse(query: Mapping[str, str]) -> Filters:
    """Read `reason`, `version` and `operation`; a page never fails over its address."""
    reason, version = query.get("reason", ""), query.get("version", "")
    faults = []
    if reason and reason not in REASONS:
        reason = ""
        faults.append("There is no such reason; all are shown.")
    if version and version not in VERSIONS:
        faults.append("Versions are 1 and 2; all are shown.")
    # No stored text holds NUL, and PostgreSQL takes none; the sign that a browser shows for it finds nothing either.
    operation = query.get("operation", "").replace("\0", "\ufffd")
    return Filters(reason, VERSIONS.get(version, 0), operation, " ".join(faults))
