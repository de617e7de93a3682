"""Find versions of operations with breaking changes (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from alerts.rules.happening import Happening

MAX_CHANGES = 10  # an event lists no more, but counts all


@dataclass(frozen=True)
class BreakingChange:
    """One breaking change, as in the drift feed. version: the operation's version since `at`. words: what changed."""

    operation_id: int
    version: int
    at: datetime
    operation: str
    part: str
    pointer: str
    words: str
    breaks: str


def find_breaking_versions(changes: Iterable[BreakingChange]) -> Iterator[Happening]:
    """Yield one happening for each version of an operation, with its changes."""
    versions: dict[tuple[int, int], list[BreakingChange]] = {}
    for change in changes:
        versions.setdefault((change.operation_id, change.version), []).append(change)
    for (operation_id, version), group in versions.items():
        facts = {
            "operation": group[0].operation,
            "version": version,
            "changes": [_describe(change) for change in group[:MAX_CHANGES]],
            "changeCount": len(group),
        }
        yield Happening(f"{operation_id}:{version}", min(change.at for change in group), facts=facts)


def _describe(change: BreakingChange) -> dict[str, str]:
    return {"part": change.part, "pointer": change.pointer, "change": change.words, "breaks": change.breaks}
