"""How often each node of a shape was present in a period (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from catalog.evidence.nodes import Node
from catalog.evidence.parts import PartShape, find_observed_node
from catalog.shape_pointers import parent_pointer


@dataclass(frozen=True)
class Presence:
    """The presence of a node in a shape.

    seen: how often the node was present.
    parents: how often it could have been, None if that is unknown.
    """

    seen: int
    parents: int | None


def list_presence(nodes: Iterable[Node], in_period: PartShape | None) -> dict[str, Presence]:
    """Return the presence of each node, by pointer.

    in_period: the part as it was observed in the period; None for all time.
    """
    if in_period is None:
        return {node.pointer: Presence(node.seen, node.parents) for node in nodes}
    return {node.pointer: _find_presence(node, in_period) for node in nodes}


def _find_presence(node: Node, in_period: PartShape) -> Presence:
    if observed := find_observed_node(in_period, node.pointer):
        return Presence(observed.evidence.seen, observed.parents)
    if node.parents is None:
        return Presence(0, None)
    parent = find_observed_node(in_period, parent_pointer(node.pointer))
    return Presence(0, parent.evidence.counts.get("object", 0) if parent else 0)
