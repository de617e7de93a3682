"""The versions of one operation as the timeline of its page lists them, each with what changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from catalog.drift.compare_outlines import Change, compare_outlines, list_first_media_types
from catalog.drift.queries import list_versions, load_outlines_by_number
from catalog.evidence.outlines import Outline
from catalog.models import BaselineReset, Drift, Operation, OperationVersion

MAX_VERSIONS_SHOWN = 20
MAX_CHANGES_SHOWN = 6  # of each version


@dataclass(frozen=True)
class TimelineEntry:
    """A version with the first of its changes, and how many more it has.

    changes: the drift of the version; if it has none (after a manual override), the differences between its outline and
        the previous one.
    media_types: the new media types of a version without drift, by part.
    first_number: the number of the first version, if the entry stands for several in a row that only had new media
        types.
    reset: the baseline reset that made the version. What it hides is no change.
    """

    version: OperationVersion
    changes: Sequence[Change | Drift]
    more: int
    first_number: int
    media_types: Sequence[tuple[str, Sequence[str]]] = ()
    reset: BaselineReset | None = None

    @property
    def is_of_drift(self) -> bool:
        """Return whether its changes are drift, which have pages of their own."""
        return all(isinstance(change, Drift) for change in self.changes)

    @property
    def has_only_media_types(self) -> bool:
        return bool(self.media_types) and not self.changes and not self.version.by_hand

    @property
    def has_own_changes(self) -> bool:
        """Return whether anything changed with the version itself.

        Absence is detected only after many observations. Its drift is listed with the version of that time, which it
        did not cause.
        """
        return any(not isinstance(change, Drift) or change.at <= self.version.at for change in self.changes)


def build_timeline(operation: Operation) -> list[TimelineEntry]:
    """Return the latest versions, the newest first."""
    versions = list(list_versions(operation)[:MAX_VERSIONS_SHOWN])
    numbers = [version.number for version in versions]
    drift_by_version: dict[int, list[Drift]] = {number: [] for number in numbers}
    for drift in operation.drift.filter(version__in=numbers).order_by("id"):
        drift_by_version[drift.version].append(drift)
    without_drift = [number for number in numbers if not drift_by_version[number]]
    resets = find_version_resets(operation, versions)
    pairs = _load_with_former(operation, [number for number in without_drift if number not in resets])
    return [
        replace(
            _build_timeline_entry(version, drift_by_version[version.number], pairs.get(version.number)),
            reset=resets.get(version.number),
        )
        for version in versions
    ]


def find_version_resets(operation: Operation, versions: Iterable[OperationVersion]) -> dict[int, BaselineReset]:
    """Return the baseline resets that made some of these versions, by number."""
    resets = {reset.at: reset for reset in operation.baseline_resets.all()}
    return {version.number: resets[version.at] for version in versions if version.by_hand and version.at in resets}


def _load_with_former(operation: Operation, numbers: Sequence[int]) -> dict[int, tuple[Outline, Outline]]:
    """Return two outlines for each of these versions, by number: of the version before, and of the version itself."""
    outlines = load_outlines_by_number(operation, [*numbers, *(number - 1 for number in numbers)])
    return {
        number: (outlines[number - 1], outlines[number])
        for number in numbers
        if outlines.keys() >= {number - 1, number}
    }


def _build_timeline_entry(
    version: OperationVersion, drift: Sequence[Drift], outlines: tuple[Outline, Outline] | None
) -> TimelineEntry:
    """Return the entry of a version.

    outlines: of the version before and of this version; None if this version has drift, if a baseline reset made it,
        or if it is the first.
    """
    changes = compare_outlines(*outlines) if outlines else drift
    media_types = list_first_media_types(*outlines) if outlines else ()
    more = max(len(changes) - MAX_CHANGES_SHOWN, 0)
    return TimelineEntry(version, changes[:MAX_CHANGES_SHOWN], more, version.number, media_types)


def fold_media_types(timeline: Sequence[TimelineEntry]) -> list[TimelineEntry]:
    """Return the entries, the newest first. Neighbours that only have new media types become one entry."""
    entries: list[TimelineEntry] = []
    for entry in timeline:
        if entries and entries[-1].has_only_media_types and entry.has_only_media_types:
            media_types = [*entries[-1].media_types, *entry.media_types]
            entries[-1] = replace(entries[-1], first_number=entry.first_number, media_types=media_types)
        else:
            entries.append(entry)
    return entries
