"""Group breaking changes by operation and time of detection (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.rules.happenings import Happening

MAX_CHANGES = 10  # an event lists no more, but counts all


@dataclass(frozen=True)
class BreakingChange:
    """One breaking change, as in the drift feed.

    version: the version of the operation when the change was detected.
    words: the change in words.
    """

    operation_id: int
    version: int
    at: datetime
    operation: str
    part: str
    pointer: str
    words: str
    breaks: str


def group_breaking_changes(changes: Iterable[BreakingChange]) -> Iterator[Happening]:
    """Yield one happening for the changes of an operation that were detected at the same time.

    A change can be detected long after the version that it belongs to: a property counts as no longer seen only after
    many answers without it.
    """
    groups: dict[tuple[int, int, datetime], list[BreakingChange]] = {}
    counts: Counter[tuple[int, int, datetime]] = Counter()
    for change in changes:
        key = (change.operation_id, change.version, change.at)
        counts[key] += 1
        group = groups.setdefault(key, [])
        if len(group) < MAX_CHANGES:
            group.append(change)
    for key, group in groups.items():
        operation_id, version, detected_at = key
        facts = {
            "operation": group[0].operation,
            "version": version,
            "changes": [_describe_change(change) for change in group],
            "changeCount": counts[key],
        }
        yield Happening(f"{operation_id}:{version}", detected_at, gap=timedelta.resolution, facts=facts)


def _describe_change(change: BreakingChange) -> dict[str, str]:
    return {"part": change.part, "pointer": change.pointer, "change": change.words, "breaks": change.breaks}
