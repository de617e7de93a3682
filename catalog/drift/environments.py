"""The comparison of two environments: how the operations of one differ from those of another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from catalog.change_labels import BOTH, NOBODY, PRODUCER
from catalog.drift.compare import Change, compare_outlines
from catalog.drift.compared_operations import (
    AbsentPlaces,
    ComparedOperation,
    OperationKey,
    find_absent_places,
    load_compared_operations,
    split_into_chunks,
)
from catalog.drift.current_presence import CurrentPresence, PresenceState
from catalog.drift.queries import CatalogRow, load_catalog_rows, load_outlines
from catalog.drift.type_names import name_types
from catalog.evidence.outline_nodes import remove_properties
from catalog.evidence.outlines import Outline
from catalog.evidence.pointers import SEVERAL_TYPES
from workspaces.models import Environment

WHOLE_OPERATION = "operation"  # stands for the part of a change
LIKELY = 3  # a property was never seen once its rate elsewhere would have shown it so often
NOTHING_ABSENT = AbsentPlaces()
NEVER_CALLED = CurrentPresence(PresenceState.NEVER_SEEN, 0, None)


@dataclass(frozen=True)
class OperationChange:
    """One change of one operation. If only one environment has the operation, all of it is new or gone.

    before, after: the presence of what changed in the two environments; None for a parameter of the path.
    """

    method: str
    path: str
    change: Change
    before: CurrentPresence | None = None
    after: CurrentPresence | None = None

    @property
    def is_certain(self) -> bool:
        """Return whether there were enough calls on both sides to tell; what is different on both sides is certain."""
        if self.change.kind not in ("new", "gone") or self.before is None or self.after is None:
            return True
        present, missing = (self.before, self.after) if self.change.kind == "gone" else (self.after, self.before)
        if present.is_uncertain or missing.is_uncertain or self.change.part == WHOLE_OPERATION:
            return False
        return missing.state is PresenceState.NO_LONGER_SEEN or _would_be_seen(present, missing)


def _would_be_seen(present: CurrentPresence, missing: CurrentPresence) -> bool:
    """Return whether what is present on one side would have been seen on the other, had it been sent there, too."""
    if missing.of is None or not present.of:
        return True
    is_always_sent = present.seen >= present.of
    return missing.of > 0 and (is_always_sent or missing.of * present.seen >= LIKELY * present.of)


@dataclass(frozen=True)
class ComparisonSummary:
    """The number of differences.

    certain, uncertain: all of them.
    breaking: the certain ones that break a client or a server; `perhaps_breaking` are those that are not certain.
    perhaps_operations: how many of `perhaps_breaking` are whole operations.
    is_for_clients: whether each of `breaking` breaks clients.
    """

    certain: int
    uncertain: int
    breaking: int
    perhaps_breaking: int
    perhaps_operations: int
    is_for_clients: bool

    @property
    def perhaps_fields(self) -> int:
        return self.perhaps_breaking - self.perhaps_operations


def summarize_comparison(rows: Iterable[OperationChange]) -> ComparisonSummary:
    certain: list[OperationChange] = []
    uncertain: list[OperationChange] = []
    for row in rows:
        (certain if row.is_certain else uncertain).append(row)
    perhaps_breaking = [row for row in uncertain if row.change.breaks]
    breaking = {(row.method, row.path, row.change.part, row.change.pointer) for row in certain if row.change.breaks}
    return ComparisonSummary(
        certain=len(certain),
        uncertain=len(uncertain),
        breaking=len(breaking),
        perhaps_breaking=len(perhaps_breaking),
        perhaps_operations=sum(row.change.part == WHOLE_OPERATION for row in perhaps_breaking),
        is_for_clients=all(row.change.breaks != PRODUCER for row in certain),
    )


def compare_catalogs(environment: Environment, against: Environment) -> Iterator[OperationChange]:
    """Yield what would change for `environment` if it were like `against`, by path and method.

    An environment in which nothing was observed is not compared: all of the other would be new or gone. Properties that
    are no longer seen count as missing. Outlines are read only where digests or absent properties differ.
    """
    before, after = load_catalog_rows(environment), load_catalog_rows(against)
    if not (before and after):
        return
    absent_before, absent_after = find_absent_places(environment), find_absent_places(against)
    keys = sorted(before.keys() | after.keys(), key=lambda key: (key[1], key[0]))
    for chunk in split_into_chunks(keys):
        changed_keys = [
            key
            for key in chunk
            if key in before
            and key in after
            and (before[key].digest != after[key].digest or absent_before.get(key) != absent_after.get(key))
        ]
        sides = [
            _Side(side, load_outlines(side, changed_keys), load_compared_operations(side, changed_keys), absent)
            for side, absent in ((environment, absent_before), (against, absent_after))
        ]
        for key in chunk:
            if key in changed_keys:
                yield from _compare_operation(key, before[key].path, *sides)
            elif not (key in before and key in after):
                yield _describe_missing(key, before.get(key), after.get(key))


@dataclass(frozen=True)
class _Side:
    """One environment with some of its operations."""

    environment: Environment
    outlines: Mapping[OperationKey, Outline]
    operations: Mapping[OperationKey, ComparedOperation]
    absent: Mapping[OperationKey, AbsentPlaces]

    def find_absent(self, key: OperationKey) -> AbsentPlaces:
        return self.absent.get(key, NOTHING_ABSENT)


def _describe_missing(key: OperationKey, before: CatalogRow | None, after: CatalogRow | None) -> OperationChange:
    """Return the difference of an operation that only one of the two environments has."""
    row = before or after
    assert row is not None
    presence = CurrentPresence(PresenceState.SEEN, row.observations, None)
    if before:
        return OperationChange(
            key[0], row.path, Change(WHOLE_OPERATION, "", "gone", breaks=BOTH), presence, NEVER_CALLED
        )
    return OperationChange(key[0], row.path, Change(WHOLE_OPERATION, "", "new"), NEVER_CALLED, presence)


def _compare_operation(key: OperationKey, path: str, before: _Side, after: _Side) -> Iterator[OperationChange]:
    """Yield the changes of what is sent, then those of what only one of the two has not sent lately."""
    absent_before, absent_after = before.find_absent(key), after.find_absent(key)
    outline_before = remove_properties(before.outlines[key], absent_before.no_longer_seen)
    outline_after = remove_properties(after.outlines[key], absent_after.no_longer_seen)
    operation_before, operation_after = before.operations[key], after.operations[key]

    def is_always_sent(part: str, pointer: str) -> bool:
        presence = operation_after.find_presence(part, pointer)
        return presence.of is None or presence.seen >= presence.of

    changes = compare_outlines(outline_before, outline_after, is_always_there=is_always_sent)
    places = {(change.part, change.pointer) for change in changes}
    perhaps = compare_outlines(
        remove_properties(outline_before, absent_before.lately - absent_after.lately),
        remove_properties(outline_after, absent_after.lately - absent_before.lately),
        is_always_there=is_always_sent,
    )
    changes += [change for change in perhaps if (change.part, change.pointer) not in places]
    for change in changes:
        if SEVERAL_TYPES in change.before + change.after:
            change = name_types(change, operation_before.operation, operation_after.operation)
        if change.part == "path":
            yield OperationChange(key[0], path, change)
        else:
            sides = [side.find_presence(change.part, change.pointer) for side in (operation_before, operation_after)]
            if change.kind == "gone" and not all(side.is_always_sent for side in sides if side.seen):
                change = replace(change, breaks=NOBODY)  # not always sent, so its readers cope without it
            yield OperationChange(key[0], path, change, *sides)
