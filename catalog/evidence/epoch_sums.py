"""Merge the epochs of one part into what is shown (pure).

A part is the query, the request or the responses of one status of an operation. An operation begins in epoch 0, and
every baseline reset begins the next epoch. What is shown is the sum of the epochs, in which a reset node counts only
from the epoch of its reset on.

The evidence of an epoch stays as it was reported, so that every reset can be undone exactly (contract §4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from affidavit import Evidence
from catalog.evidence.maps import apply_maps
from catalog.evidence.tree import copy_node, list_children, sum_evidence
from catalog.shape_pointers import ITEMS, VALUES, is_within, parent_pointer, property_step, split_pointer


class NodeReset(NamedTuple):
    """The node at `pointer` counts from `epoch` on. A step `{}` in the pointer matches every name of an object."""

    epoch: int
    pointer: str


class EpochEvidence(NamedTuple):
    """One operation's evidence of a part by epoch, and the resets of nodes in it."""

    epochs: Mapping[int, Evidence]
    resets: Iterable[NodeReset] = ()


@dataclass(frozen=True)
class VisiblePart:
    """The evidence of a part as it is shown.

    maps: the objects that are shown as maps, by pointer, with their numbers of names.
    reset_counts: how often each reset node could have been present since its reset, by pointer; None if that is
        unknown, as for the items of an array.
    """

    evidence: Evidence
    maps: Mapping[str, int] = field(default_factory=dict)
    reset_counts: Mapping[str, int | None] = field(default_factory=dict)


def build_visible_part(
    operations: Sequence[EpochEvidence], *, map_rules: Mapping[str, bool] | None = None, by_likeness: bool = True
) -> VisiblePart:
    """Return the visible evidence of one part.

    operations: the evidence of every operation that is shown here.
    map_rules, by_likeness: the `rules` and `by_likeness` of apply_maps.
    """
    sums = [sum_epochs(*operation) for operation in operations]
    evidence = sum_evidence(total for total, _ in sums)
    with_maps, name_counts = apply_maps(evidence, map_rules or {}, by_likeness=by_likeness)
    return VisiblePart(with_maps, name_counts, dict(_count_since_resets(evidence, sums)))


def sum_epochs(epochs: Mapping[int, Evidence], resets: Iterable[NodeReset]) -> tuple[Evidence, dict[str, Evidence]]:
    """Return the sum of all epochs, in which each reset node counts only from the epoch of its reset on.

    Also return, by the pointer of each reset, the sum of the whole part since that epoch. Leave out a reset if a later
    one resets its node or a node around it.
    """
    total = sum_evidence(epochs.values())
    since: dict[str, Evidence] = {}
    for reset in sorted(resets):
        later = sum_evidence(evidence for epoch, evidence in epochs.items() if epoch >= reset.epoch)
        total = graft(total, split_pointer(reset.pointer), later)
        since = {pointer: evidence for pointer, evidence in since.items() if not is_within(pointer, reset.pointer)}
        since[reset.pointer] = later
    return total, since


def graft(whole: Evidence, steps: Sequence[str], later: Evidence) -> Evidence:
    """Return `whole` with the subtree at `steps` taken from `later`; nodes that `later` lacks become empty."""
    if not steps:
        return later
    first, *inner_steps = steps
    result = copy_node(whole)
    if first == ITEMS and whole.items is not None:
        result.items = graft(whole.items, inner_steps, later.items or Evidence())
    if first == VALUES and whole.values is not None:
        result.values = graft(whole.values, inner_steps, later.values or Evidence())
    for name in (name for name in whole.properties if first in (VALUES, property_step(name))):
        node = whole.properties[name]
        result.properties[name] = graft(node, inner_steps, later.properties.get(name) or _empty_copy(node))
    return result


def _empty_copy(node: Evidence) -> Evidence:
    """Return an empty node that keeps only the mark of a sensitive name."""
    empty = Evidence()
    empty.redacted = node.redacted
    return empty


def _count_since_resets(
    whole: Evidence, sums: Sequence[tuple[Evidence, Mapping[str, Evidence]]]
) -> Iterator[tuple[str, int | None]]:
    """Yield each reset node with how often it could have been present since: as often as its parent was an object.

    If a step of the pointer before the last stands for every name, also yield the node behind each name.
    """
    for pointer in sorted({pointer for _, since in sums for pointer in since}):
        *outer, last = split_pointer(pointer) or [ITEMS]
        objects: Counter[str] = Counter()
        for total, since in sums:
            for parent, evidence in _find_nodes(since.get(pointer, total), outer):
                objects[parent] += evidence.counts.get("object", 0)
        is_property = last not in (ITEMS, VALUES)
        yield pointer, objects.total() if is_property else None
        if VALUES in outer:
            for named_pointer, _ in _find_nodes(whole, split_pointer(pointer)):
                yield named_pointer, objects[parent_pointer(named_pointer)] if is_property else None


def _find_nodes(evidence: Evidence, steps: Sequence[str], pointer: str = "") -> Iterator[tuple[str, Evidence]]:
    """Yield the nodes that `steps` lead to, each with its own pointer."""
    if not steps:
        yield pointer, evidence
        return
    first, *inner_steps = steps
    for step, child_pointer, child in list_children(evidence, pointer):
        if step == first or (first == VALUES and step != ITEMS):
            yield from _find_nodes(child, inner_steps, child_pointer)
