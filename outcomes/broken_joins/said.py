"""What was reported of one outcome, and what several such accounts come to together (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Said:
    """So many reports between two times; `reported_by` is the API key of the first."""

    reports: int
    first: datetime
    last: datetime
    reported_by: int | None = None


def together(parts: Sequence[Said]) -> Said:
    """One account of several, whatever their order; where two began at once, the lower API key's counts as first."""
    first = min(parts, key=lambda part: (part.first, part.reported_by or 0))
    return Said(sum(part.reports for part in parts), first.first, max(part.last for part in parts), first.reported_by)
