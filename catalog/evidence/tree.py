"""The evidence of the nodes of a shape, by pointer (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from affidavit import Evidence
from catalog.shape_pointers import ITEMS, VALUES, property_name, property_step


class EvidenceNode(NamedTuple):
    """The evidence of one node.

    parents: how often it could have been present; None if that is unknown.

    A property could have been present as often as its parent was an object; for items and values it is unknown.
    """

    evidence: Evidence
    parents: int | None


def list_children(evidence: Evidence, pointer: str) -> Iterator[tuple[str, str, Evidence]]:
    """Yield step, pointer and evidence of every node right below this one."""
    for name, child in evidence.properties.items():
        step = property_step(name)
        yield step, f"{pointer}/{step}", child
    for step, nameless_child in ((ITEMS, evidence.items), (VALUES, evidence.values)):
        if nameless_child is not None:
            yield step, f"{pointer}/{step}", nameless_child


def walk_nodes(
    evidence: Evidence, *, observations: int | None, pointer: str = ""
) -> Iterator[tuple[str, EvidenceNode]]:
    """Yield every node with its pointer, the root first.

    observations: how often the root could have been present.
    """
    yield pointer, EvidenceNode(evidence, observations)
    objects = evidence.counts.get("object", 0)
    for step, child_pointer, child in list_children(evidence, pointer):
        parents = None if step in (ITEMS, VALUES) else objects
        yield from walk_nodes(child, observations=parents, pointer=child_pointer)


def is_leaf(evidence: Evidence) -> bool:
    """Return whether no node is beneath this one."""
    return not evidence.properties and evidence.items is None and evidence.values is None


def find_child(evidence: Evidence, step: str) -> Evidence | None:
    if step == ITEMS:
        return evidence.items
    if step == VALUES:
        return evidence.values
    return evidence.properties.get(property_name(step))


def set_child(evidence: Evidence, step: str, child: Evidence) -> None:
    if step == ITEMS:
        evidence.items = child
    elif step == VALUES:
        evidence.values = child
    else:
        evidence.properties[property_name(step)] = child


def copy_node(evidence: Evidence) -> Evidence:
    """Return a copy whose children can be replaced; the children themselves are shared."""
    copy = Evidence()
    copy.counts, copy.redacted, copy.collapsed = dict(evidence.counts), evidence.redacted, evidence.collapsed
    copy.items, copy.values, copy.properties = evidence.items, evidence.values, dict(evidence.properties)
    copy.first, copy.last, copy.binary = evidence.first, evidence.last, evidence.binary
    return copy


def sum_evidence(parts: Iterable[Evidence]) -> Evidence:
    """Return the sum of the parts; if there is only one, that part itself."""
    summands = list(parts)
    if len(summands) == 1:
        return summands[0]
    total = Evidence()
    for evidence in summands:
        total.add(evidence)
    return total
