"""The history of one operation: its versions, and the comparison of any two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalog.drift.compare import Change, compare_outlines
from catalog.drift.queries import list_versions, load_version_outlines
from catalog.models import Drift, Operation, OperationVersion

MAX_VERSIONS_SHOWN = 20
MAX_CHANGES_SHOWN = 6  # of each version


@dataclass(frozen=True)
class TimelineEntry:
    """A version with the first of its changes, and how many more it has."""

    version: OperationVersion
    changes: Sequence[Drift]
    more: int


@dataclass(frozen=True)
class VersionComparison:
    """The changes from one version to another, by their numbers."""

    before: int
    after: int
    changes: Sequence[Change]


def build_timeline(operation: Operation) -> list[TimelineEntry]:
    """Return the latest versions, the newest first."""
    versions = list(list_versions(operation)[:MAX_VERSIONS_SHOWN])
    numbers = [version.number for version in versions]
    drift_by_version: dict[int, list[Drift]] = {number: [] for number in numbers}
    for drift in operation.drift.filter(version__in=numbers).order_by("id"):
        drift_by_version[drift.version].append(drift)
    return [_build_entry(version, drift_by_version[version.number]) for version in versions]


def _build_entry(version: OperationVersion, drift: Sequence[Drift]) -> TimelineEntry:
    return TimelineEntry(version, drift[:MAX_CHANGES_SHOWN], max(len(drift) - MAX_CHANGES_SHOWN, 0))


def compare_versions(operation: Operation, address: Mapping[str, str]) -> VersionComparison | None:
    """Compare the versions that an address names in `before` and `after`; None unless both exist."""
    numbers = [address.get(name, "") for name in ("before", "after")]
    if not all(number.isascii() and number.isdigit() and len(number) < 9 for number in numbers):
        return None
    before, after = map(int, numbers)
    outlines = load_version_outlines(operation, before, after)
    return VersionComparison(before, after, compare_outlines(*outlines)) if outlines else None
