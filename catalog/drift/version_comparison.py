"""The comparison of any two versions of an operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from catalog.change_kinds import NO_LONGER_SEEN, PRESENCE_KINDS, SEEN_AGAIN
from catalog.drift.compare_outlines import UNKNOWN_WORDS, Change, compare_outlines, list_first_media_types
from catalog.drift.name_types_of_change import name_types
from catalog.drift.queries import list_versions, load_outlines_by_number
from catalog.drift.version_timeline import find_version_resets
from catalog.evidence.outline_nodes import list_outline_nodes, remove_properties
from catalog.evidence.outlines import Outline
from catalog.models import BaselineReset, Drift, Operation, OperationVersion
from catalog.shape_pointers import is_within


@dataclass(frozen=True)
class ComparedVersion:
    """One side of a comparison.

    properties: the number of properties in all parts of its outline, without those that were no longer seen.
    no_longer_seen: the number of those.
    """

    version: OperationVersion
    properties: int
    no_longer_seen: int


@dataclass(frozen=True)
class VersionComparison:
    """The changes from one version to another: first those of their outlines, then those of presence.

    For a field that changed once in between, the change is the drift that was recorded then, so that all pages agree.

    inside: the number of properties that were added inside a changed node, by its part and pointer.
    media_types: the media types that were reported for the first time, by part, if nothing else changed.
    resets: the baseline resets that made versions in between, with the number of each version.
    """

    before: ComparedVersion
    after: ComparedVersion
    changes: Sequence[Change | Drift]
    inside: Mapping[tuple[str, str], int] = field(default_factory=dict)
    media_types: Sequence[tuple[str, Sequence[str]]] = ()
    resets: Sequence[tuple[int, BaselineReset]] = ()

    @property
    def breaking(self) -> int:
        return sum(bool(change.breaks) for change in self.changes)

    @property
    def rows(self) -> list[tuple[Change | Drift, int]]:
        """Return each change with the number of properties that were added inside it."""
        return [(change, max(self.inside.get((change.part, change.pointer), 0), 0)) for change in self.changes]


def compare_versions(operation: Operation, address: Mapping[str, str]) -> VersionComparison | None:
    """Compare the versions that an address names in `before` and `after`; None unless both exist."""
    numbers = [address.get(name, "") for name in ("before", "after")]
    if not all(map(_is_number, numbers)):
        return None
    before, after = map(int, numbers)
    outlines = load_outlines_by_number(operation, [before, after])
    if not outlines.keys() >= {before, after}:
        return None
    versions = {version.number: version for version in list_versions(operation).filter(number__in=outlines)}
    sides = {
        number: ComparedVersion(versions[number], *_count_by_state(operation, number, outline))
        for number, outline in outlines.items()
    }
    differences = [
        name_types(change, operation, operation) for change in compare_outlines(outlines[before], outlines[after])
    ]
    between = list_versions(operation).filter(number__gt=min(before, after), number__lte=max(before, after))
    resets = sorted(find_version_resets(operation, between).items())
    differences = [change for change in differences if not _is_hidden(change, resets, before, after)]
    if before > after:
        return VersionComparison(sides[before], sides[after], differences, resets=resets)
    shape_drift = _list_shape_drift(operation, before, after)
    changes = [_recall(change, shape_drift.get((change.part, change.pointer), ())) for change in differences]
    changes += _list_presence_changes(operation, before, after)
    media_types = () if changes else list_first_media_types(outlines[before], outlines[after])
    growing_changes = [change for change in changes if change.kind in ("new", "type", "known")]
    inside = {
        (change.part, change.pointer): _count_properties_inside(outlines[after], change)
        - _count_properties_inside(outlines[before], change)
        for change in growing_changes
    }
    return VersionComparison(sides[before], sides[after], changes, inside, media_types, resets)


def _is_hidden(change: Change, resets: Sequence[tuple[int, BaselineReset]], before: int, after: int) -> bool:
    """Return whether a difference of two versions only shows that a reset hid something."""
    later_type = change.after if before < after else change.before
    return any(
        (number == max(before, after) or later_type == UNKNOWN_WORDS["nothing"])
        and (not reset.part or (reset.part == change.part and is_within(change.pointer, reset.pointer)))
        for number, reset in resets
    )


def _count_by_state(operation: Operation, number: int, outline: Outline) -> tuple[int, int]:
    """Return how many properties of a version were still seen in it, and how many no longer were."""
    last_kinds: dict[tuple[str, str], str] = {}
    drift = operation.drift.filter(version__lte=number, kind__in=PRESENCE_KINDS)
    for part, pointer, kind in drift.order_by("id").values_list("part", "pointer", "kind"):
        last_kinds[part, pointer] = kind
    absent = [property_key for property_key, kind in last_kinds.items() if kind == NO_LONGER_SEEN]
    present, total = (
        sum(1 for _ in list_outline_nodes(whole)) for whole in (remove_properties(outline, absent), outline)
    )
    return present, total - present


def has_version(operation: Operation, number: str) -> bool:
    """Return whether the operation has the version that an address names."""
    return _is_number(number) and bool(load_outlines_by_number(operation, [int(number)]))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 9


def _count_properties_inside(outline: Outline, change: Change | Drift) -> int:
    """Return how many properties are inside the one that changed."""
    start = f"{change.pointer}/"
    return sum(node.part == change.part and node.pointer.startswith(start) for node in list_outline_nodes(outline))


def _list_shape_drift(operation: Operation, before: int, after: int) -> dict[tuple[str, str], list[Drift]]:
    """Return the drift of shape after the version `before`, up to and including `after`, by part and pointer."""
    drift_by_field: dict[tuple[str, str], list[Drift]] = {}
    rows = operation.drift.filter(version__gt=before, version__lte=after).exclude(kind__in=PRESENCE_KINDS)
    for drift in rows.order_by("id"):
        drift_by_field.setdefault((drift.part, drift.pointer), []).append(drift)
    return drift_by_field


def _recall(change: Change, drift: Sequence[Drift]) -> Change | Drift:
    """Return the difference between two outlines of a field, corrected by its recorded drift.

    Drift knows more than two outlines: whether a field was always null, or a new one always present. So a single
    recorded change replaces the difference. If there are several and the field is new, only `breaks` is taken,
    from the first of them.
    """
    if len(drift) == 1:
        return drift[0]
    is_new = change.kind == "new" and bool(drift) and drift[0].kind == "new"
    return replace(change, breaks=drift[0].breaks) if is_new else change


def _list_presence_changes(operation: Operation, before: int, after: int) -> list[Change]:
    """Return each node's last change of presence after `before`, up to and including `after`.

    Outlines do not hold presence.

    A property that was seen again before the later version is left out, as if it had never been absent.
    """
    last_drift: dict[tuple[str, str], Drift] = {}
    drift = operation.drift.filter(version__gt=before, version__lte=after, kind__in=PRESENCE_KINDS)
    for item in drift.order_by("id"):
        last_drift[item.part, item.pointer] = item
    return [
        Change(item.part, item.pointer, item.kind, item.before, item.after, item.breaks)
        for item in last_drift.values()
        if item.kind != SEEN_AGAIN
    ]
