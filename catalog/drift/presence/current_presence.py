"""Whether a property is sent now (pure): the one rule for every page that says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from catalog.drift.presence.absence_counters import Absence, AbsenceStates
from catalog.drift.presence.enough_observations import ENOUGH
from catalog.drift.presence.probably_gone_rule import LEAST, is_always_present, is_probably_gone, is_unusual
from catalog.evidence.nodes import Node
from catalog.shape_pointers import is_within, parent_pointer


class PresenceState(StrEnum):
    """Whether a property is sent now.

    ABSENT_LATELY: it is absent for longer than ever before, but in too few objects to say anything.
    PROBABLY_GONE: it is hardly absent by chance, but in too few objects for drift to report it as no longer seen.
    """

    SEEN = "seen"
    ABSENT_LATELY = "absent-lately"
    PROBABLY_GONE = "probably-gone"
    NO_LONGER_SEEN = "no-longer-seen"
    NEVER_SEEN = "never-seen"


AbsentProperties = Mapping[tuple[str, str], date | None]
"""By part and pointer, the UTC day on which each property was last seen; None if that is not known."""

_FROM_BEST_TO_WORST = (
    PresenceState.SEEN,
    PresenceState.ABSENT_LATELY,
    PresenceState.PROBABLY_GONE,
    PresenceState.NO_LONGER_SEEN,
)


@dataclass(frozen=True)
class CurrentPresence:
    """The presence of a property up to now.

    seen, of: how often it was present in all time, and how often it could have been (None if that is unknown).
    absent: in how many objects in a row, up to now, it was absent.
    before: how many objects could have had it before this absence; None if that is unknown.
    is_always_sent: whether it was in every object since it first came, up to its absence.
    before_first: how many objects at most came before the first one with it.
    latest_seen, latest_of: the counts of its latest change of presence, if that says that it is not always sent;
        otherwise 0 and 0.
    """

    state: PresenceState
    seen: int
    of: int | None
    absent: int = 0
    before: int | None = None
    is_always_sent: bool = True
    before_first: int = 0
    latest_seen: int = 0
    latest_of: int = 0

    @property
    def is_uncertain(self) -> bool:
        return self.state is PresenceState.ABSENT_LATELY

    @property
    def is_probably_gone(self) -> bool:
        return self.state is PresenceState.PROBABLY_GONE

    @property
    def of_since_first(self) -> int:
        """Return how often it could have been present since it was first seen.

        `is_always_sent` says whether it was present each time, up to its absence.
        """
        return (self.of or 0) - self.before_first

    @property
    def before_since_first(self) -> int:
        """Return how often it could have been present before its absence, since it was first seen."""
        return self.of_since_first - self.absent

    @property
    def is_sent_in_each(self) -> bool:
        """Return whether it is in every object since it first came, up to now, and in enough of them to rely on."""
        return self.state is PresenceState.SEEN and not self.absent and self.is_always_sent and self.seen >= ENOUGH

    @property
    def is_not_always_sent(self) -> bool:
        """Return whether it is sent, but no longer always."""
        return self.state in (PresenceState.SEEN, PresenceState.ABSENT_LATELY) and self.latest_of > 0

    @property
    def latest_words(self) -> str:
        return f"in {self.latest_seen:,} of {self.latest_of:,}"


def find_current_presence(states: AbsenceStates, nodes: Mapping[str, Node], pointer: str) -> CurrentPresence:
    """Return the presence of a node of a part. A node in an object that is no longer sent is not sent either.

    states: the absence counters of the part (find_absence_states).
    nodes: all nodes of the part, by pointer.
    """
    presence = _judge(states, nodes[pointer])
    outer_pointer = pointer
    while outer_pointer:
        outer_pointer = parent_pointer(outer_pointer)
        outer = _judge(states, nodes[outer_pointer]) if outer_pointer in nodes else presence
        if _FROM_BEST_TO_WORST.index(outer.state) > _FROM_BEST_TO_WORST.index(presence.state):
            presence = replace(presence, state=outer.state, absent=outer.absent)
    return presence


def list_no_longer_seen(states: AbsenceStates) -> Iterator[str]:
    """Yield the pointers of the properties whose absence was reported and has not ended."""
    return (pointer for pointer, state in states.items() if Absence.from_state(state).is_reported)


def list_perhaps_absent(states: AbsenceStates) -> Iterator[str]:
    """Yield the pointers of the properties that may be ABSENT_LATELY or PROBABLY_GONE. Only their evidence can tell."""
    for pointer, state in states.items():
        absence = Absence.from_state(state)
        if absence.absent > absence.longest and not absence.is_reported:
            yield pointer


def list_perhaps_gone(states: AbsenceStates) -> Iterator[str]:
    """Yield the pointers of the properties that may be PROBABLY_GONE. Only their evidence can tell."""
    pointers = list_perhaps_absent(states)
    return (pointer for pointer in pointers if Absence.from_state(states[pointer]).absent >= LEAST)


def find_probably_gone(states: AbsenceStates, nodes: Mapping[str, Node]) -> dict[str, CurrentPresence]:
    """Return the presence of the properties of a part that are PROBABLY_GONE, by pointer.

    Properties inside another such property are left out.

    states, nodes: as for find_current_presence.
    """
    pointers = [pointer for pointer in list_perhaps_gone(states) if pointer in nodes]
    presence = {pointer: find_current_presence(states, nodes, pointer) for pointer in pointers}
    gone_pointers = {pointer for pointer in pointers if presence[pointer].is_probably_gone}
    outer = {
        pointer
        for pointer in gone_pointers
        if not any(is_within(pointer, other) for other in gone_pointers - {pointer})
    }
    return {pointer: presence[pointer] for pointer in pointers if pointer in outer}


def _judge(states: AbsenceStates, node: Node) -> CurrentPresence:
    absence = Absence.from_state(states.get(node.pointer, ()))
    objects = node.parents or 0
    if absence.is_reported:
        state = PresenceState.NO_LONGER_SEEN
    elif is_probably_gone(absence, node.seen, objects):
        state = PresenceState.PROBABLY_GONE
    elif is_unusual(absence, node.seen, objects):
        state = PresenceState.ABSENT_LATELY
    else:
        state = PresenceState.SEEN
    is_always_sent = is_always_present(absence, node.seen, objects)
    before = None if node.parents is None else objects - absence.absent
    before_first = absence.objects_before_first
    return CurrentPresence(state, node.seen, node.parents, absence.absent, before, is_always_sent, before_first)
