"""How often each node of a shape was present in a period (pure), and which are no longer seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from catalog.drift.absence import Absence, AbsenceStates
from catalog.evidence.nodes import Node
from catalog.evidence.pointers import EvidenceNode, parent_pointer


@dataclass(frozen=True)
class Presence:
    """The presence of a node in a shape.

    seen: how often the node was present.
    parents: how often it could have been, None if that is unknown.
    """

    seen: int
    parents: int | None


def list_presence(nodes: Iterable[Node], in_period: Mapping[str, EvidenceNode] | None) -> dict[str, Presence]:
    """Return the presence of each node, by pointer.

    in_period: the nodes that were observed in the period (list_observed_nodes); None for all time.
    """
    if in_period is None:
        return {node.pointer: Presence(node.seen, node.parents) for node in nodes}
    return {node.pointer: _find_presence(node, in_period) for node in nodes}


def list_vanished(states: Iterable[AbsenceStates]) -> Iterator[str]:
    """Yield the pointers of the properties whose absence was reported and has not ended."""
    for state in states:
        yield from (pointer for pointer, members in state.items() if Absence.from_state(members).is_reported)


def count_absences(states: Iterable[AbsenceStates], pointer: str) -> int:
    """Return in how many objects in a row, up to now, the property was absent."""
    return max((Absence.from_state(state[pointer]).absent for state in states if pointer in state), default=0)


def _find_presence(node: Node, in_period: Mapping[str, EvidenceNode]) -> Presence:
    if node.pointer in in_period:
        observed = in_period[node.pointer]
        return Presence(observed.evidence.seen, observed.parents)
    if node.parents is None:
        return Presence(0, None)
    parent = in_period.get(parent_pointer(node.pointer))
    return Presence(0, parent.evidence.counts.get("object", 0) if parent else 0)
