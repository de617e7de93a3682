"""How one operation came to be as it is: its versions, and the difference of any two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog import queries
from catalog.drift.compare import Change, compare_outlines
from catalog.models import Drift, Operation, OperationVersion

VERSIONS_SHOWN = 20
CHANGES_SHOWN = 6  # of each version


@dataclass(frozen=True)
class Step:
    """A version with the first of the changes that made it, and how many more there were."""

    version: OperationVersion
    changes: Sequence[Drift]
    more: int


@dataclass(frozen=True)
class Compared:
    before: int
    after: int
    changes: Sequence[Change]


def timeline(operation: Operation) -> list[Step]:
    """The latest versions, the newest first."""
    shown = list(queries.versions(operation)[:VERSIONS_SHOWN])
    by_version: dict[int, list[Drift]] = {}
    for change in operation.drift.filter(version__in=[version.number for version in shown]).order_by("id"):
        by_version.setdefault(change.version, []).append(change)
    return [step(version, by_version.get(version.number, [])) for version in shown]


def step(version: OperationVersion, made: Sequence[Drift]) -> Step:
    return Step(version, made[:CHANGES_SHOWN], max(len(made) - CHANGES_SHOWN, 0))


def compared(operation: Operation, address: Mapping[str, str]) -> Compared | None:
    """The two versions that an address names in `before` and `after`; None where it names none that exist."""
    numbers = [address.get(name, "") for name in ("before", "after")]
    if not all(number.isascii() and number.isdigit() and len(number) < 9 for number in numbers):
        return None
    before, after = map(int, numbers)
    outlines: list[Mapping[str, Any]] | None = queries.version_outlines(operation, before, after)
    return Compared(before, after, compare_outlines(*outlines)) if outlines else None
