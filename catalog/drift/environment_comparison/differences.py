"""How the operations of one environment differ from those of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from catalog.change_kinds import BOTH, NOBODY, NOT_ALWAYS
from catalog.drift.compare_outlines import Change, build_not_always, compare_outlines
from catalog.drift.environment_comparison.catalog_rows import CatalogRow, load_catalog_rows, load_outlines
from catalog.drift.name_types_of_change import name_types
from catalog.drift.presence.current_presence import CurrentPresence, PresenceState
from catalog.drift.presence.load_absent import AbsentByOperation, AbsentPlaces, load_absent
from catalog.drift.presence.operation_presence import (
    ComparedOperation,
    OperationKey,
    find_not_always_sent,
    load_compared_operations,
)
from catalog.evidence.outline_nodes import remove_properties
from catalog.evidence.outlines import Outline
from catalog.evidence.type_names import SEVERAL_TYPES
from catalog.models import BaselineReset
from wire.batches import split_into_batches
from workspaces.models import Environment

WHOLE_OPERATION = "operation"  # the part of a change that concerns no single part
BASELINE_RESET = "reset"  # the kind of a change: a side was not observed since its reset, so it is not compared
# A property is certainly missing on one side if, at its rate on the other side, it should have been seen this often
# there. On the other side, it must have been seen this often, too.
LIKELY = 3
ALWAYS = "always"
OPERATIONS_AT_ONCE = 50  # the evidence of so many operations is in memory at a time
NOTHING_ABSENT = AbsentPlaces()
NEVER_CALLED = CurrentPresence(PresenceState.NEVER_SEEN, 0, None)


@dataclass(frozen=True)
class OperationChange:
    """One change of one operation. If only one environment has the operation, all of it is new or gone.

    before, after: the presence of what changed in the two environments; None for a parameter of the path.
    detected_at: when a new or gone field was detected on the side that sends it, if the other had no call since.
    reset_before, reset_after: the baseline reset of that side, if what changed was not observed there since the reset;
        otherwise None.
    """

    method: str
    path: str
    change: Change
    before: CurrentPresence | None = None
    after: CurrentPresence | None = None
    detected_at: datetime | None = None
    reset_before: BaselineReset | None = None
    reset_after: BaselineReset | None = None

    @property
    def is_reset(self) -> bool:
        """Return whether this is not a difference, but a note that something is not compared."""
        return self.change.kind == BASELINE_RESET

    @property
    def is_certain(self) -> bool:
        """Return whether there were enough calls to be certain. A difference in what both sides have is certain."""
        if self.is_reset:
            return False
        if self.change.kind not in ("new", "gone") or self.before is None or self.after is None:
            return True
        present, missing = (self.before, self.after) if self.change.kind == "gone" else (self.after, self.before)
        if present.is_uncertain or missing.is_uncertain or self.change.part == WHOLE_OPERATION:
            return False
        if missing.is_probably_gone or self.is_of_few_calls or self.detected_at:
            return False
        return missing.state is PresenceState.NO_LONGER_SEEN or _would_be_seen(present, missing)

    @property
    def is_of_few_calls(self) -> bool:
        """Return whether a new or gone field was seen too rarely, on the side that has it, to tell anything."""
        present = {"gone": self.before, "new": self.after}.get(self.change.kind)
        return present is not None and present.seen < LIKELY and self.change.part != WHOLE_OPERATION

    @property
    def is_probable(self) -> bool:
        """Return whether one side sends it, and the other has probably lost it."""
        if self.is_certain or self.before is None or self.after is None:
            return False
        states = {self.before.state, self.after.state}
        return states == {PresenceState.SEEN, PresenceState.PROBABLY_GONE}

    @property
    def is_operation_of_other(self) -> bool:
        """Return whether only the other environment has the operation."""
        return self.change.part == WHOLE_OPERATION and self.change.kind == "new"

    @property
    def is_of_presence(self) -> bool:
        """Return whether both sides send it, but only one of them always."""
        return self.change.kind == NOT_ALWAYS


def _would_be_seen(present: CurrentPresence, missing: CurrentPresence) -> bool:
    """Return whether a field that one side sends would have been seen on the other side, if that side sent it, too.

    This depends on the rate of the field: how often it was seen, divided by the number of its parent objects since it
    was first seen.
    """
    if missing.of is None or not present.of:
        return True
    return missing.of * present.seen >= LIKELY * present.of_since_first


def compare_catalogs(
    environment: Environment,
    against: Environment,
    absent: tuple[AbsentByOperation, AbsentByOperation] | None = None,
) -> Iterator[OperationChange]:
    """Yield what would change for `environment` if it were like `against`, by path and method.

    An environment in which nothing was observed is not compared: every operation of the other would be new or gone.
    Properties that are no longer seen, or probably gone, count as missing. Outlines are read only where digests, absent
    properties or the presence of properties may differ.

    absent: what the two do not send (load_absent), if it is known already.
    """
    before, after = load_catalog_rows(environment), load_catalog_rows(against)
    if not (before and after):
        return
    absent_before, absent_after = absent or (load_absent(environment), load_absent(against))
    not_always_sent = find_not_always_sent(environment) | find_not_always_sent(against)
    keys = sorted(before.keys() | after.keys(), key=lambda key: (key[1], key[0]))
    for batch in split_into_batches(keys, OPERATIONS_AT_ONCE):
        changed_keys = [
            key
            for key in batch
            if key in before
            and key in after
            and (
                before[key].digest != after[key].digest
                or absent_before.get(key) != absent_after.get(key)
                or key in not_always_sent
            )
        ]
        sides = [
            _Side(side, load_outlines(side, changed_keys), load_compared_operations(side, changed_keys), absent)
            for side, absent in ((environment, absent_before), (against, absent_after))
        ]
        for key in batch:
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
    absent: AbsentByOperation

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
    """Yield the differences. If something was not observed since a baseline reset, yield that reset once instead."""
    operations = before.operations[key], after.operations[key]
    reset_places: set[tuple[str, str]] = set()

    def describe_resets(part: str, pointer: str) -> OperationChange | None:
        node = ("", "") if part in (WHOLE_OPERATION, "path") else (part, pointer)
        resets = [operation.find_unobserved_reset(*node) for operation in operations]
        reset = next(filter(None, resets), None)
        if reset is None:
            return None
        outer_pointer = reset.pointer if node[0] else ""
        sides = [operation.find_presence(node[0], outer_pointer) for operation in operations]
        change = Change(part, outer_pointer, BASELINE_RESET)
        return OperationChange(key[0], path, change, sides[0], sides[1], reset_before=resets[0], reset_after=resets[1])

    if whole := describe_resets(WHOLE_OPERATION, ""):
        yield whole
        return
    for row in _compare_sides(key, path, before, after):
        reset_row = describe_resets(row.change.part, row.change.pointer)
        if reset_row is None:
            yield row
        elif (reset_place := (reset_row.change.part, reset_row.change.pointer)) not in reset_places:
            reset_places.add(reset_place)
            yield reset_row


def _compare_sides(key: OperationKey, path: str, before: _Side, after: _Side) -> Iterator[OperationChange]:
    """Yield the changes of what is sent, then what only one side has lost lately, then changes of presence."""
    absent_before, absent_after = before.find_absent(key), after.find_absent(key)
    outline_before = remove_properties(before.outlines[key], absent_before.gone)
    outline_after = remove_properties(after.outlines[key], absent_after.gone)
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
    of_presence = list(_compare_presence(key[0], path, operation_before, operation_after))
    places |= {(row.change.part, row.change.pointer) for row in of_presence}
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
            detected_at = _find_detection(change, operation_before, operation_after)
            yield OperationChange(key[0], path, change, sides[0], sides[1], detected_at)
    yield from of_presence


def _find_detection(change: Change, before: ComparedOperation, after: ComparedOperation) -> datetime | None:
    """Return when a new or gone field was detected on the side that sends it, if the other had no call since."""
    present, missing = (before, after) if change.kind == "gone" else (after, before)
    if change.kind not in ("new", "gone") or not change.pointer:
        return None
    if missing.find_presence(change.part, change.pointer).state is not PresenceState.NEVER_SEEN:
        return None
    detected_at = present.find_detection(change.part, change.pointer)
    is_since = detected_at is not None and missing.operation.last_seen_at < detected_at.replace(microsecond=0)
    return detected_at if is_since else None


def _compare_presence(
    method: str, path: str, before: ComparedOperation, after: ComparedOperation
) -> Iterator[OperationChange]:
    """Yield the properties that one side always sends, and that the other, by its drift, no longer always sends."""
    for part, pointer in sorted(before.list_not_always_sent() | after.list_not_always_sent()):
        presence_before, presence_after = before.find_presence(part, pointer), after.find_presence(part, pointer)
        if presence_before.is_sent_in_each and presence_after.is_not_always_sent:
            change = build_not_always(part, pointer, ALWAYS, presence_after.latest_words)
        elif presence_after.is_sent_in_each and presence_before.is_not_always_sent:
            change = Change(part, pointer, NOT_ALWAYS, presence_before.latest_words, ALWAYS)
        else:
            continue
        yield OperationChange(method, path, change, presence_before, presence_after)
