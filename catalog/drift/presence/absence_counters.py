"""Count absences with each fold (pure), and report what the rule says of them: each absence once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from affidavit import Evidence
from catalog.change_kinds import NO_LONGER_SEEN, NOT_ALWAYS, SEEN_AGAIN
from catalog.drift.presence.enough_observations import ENOUGH
from catalog.drift.presence.no_longer_seen_rule import is_no_longer_seen
from catalog.drift.replaced_properties import find_successors
from catalog.evidence.tree import walk_nodes
from catalog.shape_pointers import ITEMS, VALUES, join_property, parent_pointer

AbsenceStates = Mapping[str, Sequence[Any]]
"""The stored form: by pointer the members of an Absence in their order, as a JSON array."""


class Absence(NamedTuple):
    """The counters of a property that was absent, or that first came later than its object. Other properties have none.

    absent: objects without it in a row, up to now.
    longest: the longest such run before.
    is_reported: whether this run was reported. Then `successor` is the probable new name, if any.
    first_seen, first_objects: how often the property had been seen, and how many objects could have had it, at the end
        of the fold in which the property first came.
    began_at: when the first observation was made of the fold in which the current absence began, in Unix seconds; 0 if
        there is none, or if an earlier version of the hub counted it.

    Stored arrays have the members in this order. A new member comes at the end, so that older arrays can be read.
    """

    absent: int = 0
    longest: int = 0
    is_reported: bool = False
    successor: str = ""
    first_seen: int = 0
    first_objects: int = 0
    began_at: int = 0

    @property
    def objects_before_first(self) -> int:
        """Return an upper bound of the number of objects that came before the first one with the property."""
        return self.first_objects - self.first_seen

    @classmethod
    def from_state(cls, state: Sequence[Any]) -> Absence:
        absence = cls(*state)
        return absence._replace(is_reported=bool(absence.is_reported))

    def to_state(self) -> list[Any]:
        return [
            self.absent,
            self.longest,
            int(self.is_reported),
            self.successor,
            self.first_seen,
            self.first_objects,
            self.began_at,
        ]


@dataclass(frozen=True)
class AbsenceEvent:
    """A change of presence to report for a property.

    kind: NO_LONGER_SEEN, SEEN_AGAIN or NOT_ALWAYS.
    of: the number of objects since its absence began; for SEEN_AGAIN, only those of this fold.
    seen: how many of these objects had it.
    always: for NOT_ALWAYS, how often it had been present before, without exception.
    successor: for NO_LONGER_SEEN, its probable new name, if any.
    began_at: for NOT_ALWAYS, that of the absence that ended with this fold; 0 if there was none.
    """

    kind: str
    pointer: str
    evidence: Evidence
    seen: int
    of: int
    always: int = 0
    successor: str = ""
    began_at: int = 0


class Occasion(NamedTuple):
    """One property, counted in the newly added objects.

    objects: how many objects were added that could have the property.
    present: how many of these objects had it.
    """

    pointer: str
    parent: Evidence
    name: str
    objects: int
    present: int

    @property
    def evidence(self) -> Evidence:
        return self.parent.properties[self.name]

    @property
    def total_objects(self) -> int:
        """Return the number of all objects, including the added ones."""
        return self.parent.counts.get("object", 0)

    @property
    def seen_before(self) -> int:
        return self.evidence.seen - self.present

    @property
    def objects_before(self) -> int:
        return self.total_objects - self.objects


def update_absences(
    states: AbsenceStates, total: Evidence, new_evidence: Evidence, *, observed_from: int = 0
) -> tuple[dict[str, list[Any]], list[AbsenceEvent]]:
    """Update the absence counters with `new_evidence`, which is already part of `total`.

    observed_from: when the first observation of `new_evidence` was made, in Unix seconds.

    Return the new counters and the events; each absence is reported once.
    """
    absences = {pointer: Absence.from_state(state) for pointer, state in states.items()}
    events: list[AbsenceEvent] = []
    no_longer_seen: list[Occasion] = []
    for occasion in _list_occasions(total, new_evidence):
        earlier = absences.pop(occasion.pointer, Absence())
        absence, event = _update(earlier, occasion)
        if absence.absent and not earlier.absent:
            absence = absence._replace(began_at=observed_from)
        if absence != Absence():
            absences[occasion.pointer] = absence
        if event:
            events.append(event)
            no_longer_seen += [occasion] if event.kind == NO_LONGER_SEEN else []
    successors = _find_new_names(absences, no_longer_seen)
    for pointer, successor in successors.items():
        absences[pointer] = absences[pointer]._replace(successor=successor)
    new_states = {pointer: absence.to_state() for pointer, absence in absences.items()}
    return new_states, [replace(event, successor=successors.get(event.pointer, "")) for event in events]


def limit_absences(states: AbsenceStates, total: Evidence) -> dict[str, list[Any]]:
    """Return the counters as far as this evidence allows.

    No run of absences may be longer than the number of objects that lack the property.

    This is for an operation from which the evidence of other operations was taken away: in those, the property may have
    been absent. Counters of properties that only the other operations had are left out, but not those in maps or in
    nodes without observations, because these can be shown again.
    """
    nodes = dict(walk_nodes(total, observations=None))
    limited: dict[str, list[Any]] = {}
    for pointer, state in states.items():
        absence = Absence.from_state(state)
        if (node := nodes.get(pointer)) is None:
            outer = parent_pointer(pointer)
            while outer not in nodes:
                outer = parent_pointer(outer)
            evidence = nodes[outer].evidence
            absence = Absence() if evidence.seen and evidence.values is None else absence
        elif node.parents is not None:
            absence = _limit(absence, node.evidence.seen, node.parents)
        if absence != Absence():
            limited[pointer] = absence.to_state()
    return limited


def _limit(absence: Absence, present: int, objects: int) -> Absence:
    without = max(objects - present, 0)
    if max(absence.absent, absence.longest, absence.objects_before_first) <= without:
        return absence
    absent, longest = min(absence.absent, without), min(absence.longest, without)
    is_reported = absence.is_reported and is_no_longer_seen(absent, longest, present, objects)
    successor, first_seen = absence.successor if is_reported else "", min(absence.first_seen, present)
    first_objects = first_seen + min(absence.objects_before_first, without)
    began_at = absence.began_at if absent else 0
    return Absence(absent, longest, is_reported, successor, first_seen, first_objects, began_at)


def _update(absence: Absence, occasion: Occasion) -> tuple[Absence, AbsenceEvent | None]:
    return _count_present(absence, occasion) if occasion.present else _count_absent(absence, occasion)


def _count_absent(absence: Absence, occasion: Occasion) -> tuple[Absence, AbsenceEvent | None]:
    absent = absence.absent + occasion.objects
    is_gone = is_no_longer_seen(absent, absence.longest, occasion.evidence.seen, occasion.total_objects)
    new_absence = absence._replace(absent=absent, is_reported=absence.is_reported or is_gone)
    if is_gone and not absence.is_reported:
        return new_absence, AbsenceEvent(NO_LONGER_SEEN, occasion.pointer, occasion.evidence, 0, absent)
    return new_absence, None


def _count_present(absence: Absence, occasion: Occasion) -> tuple[Absence, AbsenceEvent | None]:
    """End any absence. Report that the property was seen again, or (once) that it is no longer always present."""
    longest = max(absence.absent, absence.longest)
    new_absence = absence._replace(absent=0, longest=longest, is_reported=False, successor="", began_at=0)
    if occasion.objects_before and not occasion.seen_before:
        new_absence = new_absence._replace(first_seen=occasion.evidence.seen, first_objects=occasion.total_objects)
    of = absence.absent + occasion.objects
    if absence.is_reported:
        event = AbsenceEvent(SEEN_AGAIN, occasion.pointer, occasion.evidence, occasion.present, occasion.objects)
        return new_absence, event
    if of > occasion.present and (always := _count_always(absence, occasion)) >= ENOUGH:
        event = AbsenceEvent(NOT_ALWAYS, occasion.pointer, occasion.evidence, occasion.present, of, always)
        return new_absence, replace(event, began_at=absence.began_at)
    return new_absence, None


def _count_always(absence: Absence, occasion: Occasion) -> int:
    """Return how many objects had the property after its first fold; 0 if it was absent before its current absence."""
    present = occasion.seen_before - absence.first_seen
    return present if occasion.objects_before - absence.first_objects - present == absence.absent else 0


def _find_new_names(absences: Mapping[str, Absence], no_longer_seen: Sequence[Occasion]) -> dict[str, str]:
    """Return the probable new names of properties that are no longer seen, by their pointers."""
    by_object: dict[str, list[Occasion]] = {}
    for occasion in no_longer_seen:
        by_object.setdefault(parent_pointer(occasion.pointer), []).append(occasion)
    new_names: dict[str, str] = {}
    for outer, occasions in by_object.items():
        names = [occasion.name for occasion in occasions]
        new_names |= find_new_names(absences, occasions[0].parent, outer, names)
    return new_names


def find_new_names(
    absences: Mapping[str, Absence], parent: Evidence, outer: str, names: Collection[str]
) -> dict[str, str]:
    """Return the probable new names of these absent properties of one object, by their pointers.

    outer: the pointer of the object; `parent` is its evidence.
    """
    by_name = {name: absences.get(join_property(outer, name), Absence()) for name in parent.properties}
    ruled_out = {name for name, absence in by_name.items() if absence.absent}
    ruled_out |= {absence.successor for absence in by_name.values()}
    absent = {name: by_name[name].absent for name in names}
    latecomers = {name for name, absence in by_name.items() if absence.objects_before_first >= ENOUGH}
    successors = find_successors(parent, absent, ruled_out, latecomers)
    return {join_property(outer, name): successor for name, successor in successors.items()}


def _list_occasions(total: Evidence, new_evidence: Evidence, pointer: str = "") -> Iterator[Occasion]:
    """Yield each property whose parent is in `new_evidence`, outer ones first; nothing within an absent property."""
    objects = new_evidence.counts.get("object", 0)
    for name, node in total.properties.items():
        child_pointer, child = join_property(pointer, name), new_evidence.properties.get(name)
        if child is not None and child.seen:
            yield Occasion(child_pointer, total, name, objects, child.seen)
            yield from _list_occasions(node, child, child_pointer)
        elif objects:
            yield Occasion(child_pointer, total, name, objects, 0)
    for step, total_child, child in (
        (ITEMS, total.items, new_evidence.items),
        (VALUES, total.values, new_evidence.values),
    ):
        if total_child is not None and child is not None:
            yield from _list_occasions(total_child, child, f"{pointer}/{step}")
