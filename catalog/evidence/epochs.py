"""What is shown of the evidence of one part (pure): all its epochs, some nodes from a later one on, maps as maps.

Evidence itself stays as it was summed, so that everything here can be taken back exactly (contract 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from affidavit import Evidence
from affidavit.operations import is_alike_map
from catalog.evidence.pointers import (
    ITEMS,
    VALUES,
    is_within,
    list_children,
    property_name,
    property_step,
    split_pointer,
)

IsMap = Callable[[str, Evidence], bool]
"""From the pointer of an object that has names, and its evidence, to whether it is shown as a map."""


class NodeStart(NamedTuple):
    """What is at and beneath a pointer is learnt from an epoch on. A step `{}` stands for every name of an object."""

    epoch: int
    pointer: str


class Held(NamedTuple):
    """What one operation holds of the part: evidence by epoch, and the nodes that were started afresh."""

    epochs: Mapping[int, Evidence]
    starts: Iterable[NodeStart] = ()


@dataclass(frozen=True)
class Shown:
    """maps: how many names each object has that is shown as a map, by pointer.

    fresh: the nodes that were started afresh, by pointer, with how often each could have been there since; None where
    nothing tells, as of the items of an array.
    """

    evidence: Evidence
    maps: Mapping[str, int] = field(default_factory=dict)
    fresh: Mapping[str, int | None] = field(default_factory=dict)


def shown(held: Sequence[Held], *, maps: Mapping[str, bool] | None = None, by_likeness: bool = True) -> Shown:
    """held: of all operations that are shown as one. maps: by pointer whether an object is a map, as set by hand."""
    sums = [from_epochs(*one) for one in held]
    evidence = summed(total for total, _ in sums)
    mapped, found = as_maps(evidence, maps or {}, by_likeness=by_likeness)
    return Shown(mapped, found, dict(chances_since(evidence, sums)))


def as_maps(evidence: Evidence, by_hand: Mapping[str, bool], *, by_likeness: bool) -> tuple[Evidence, dict[str, int]]:
    """The same with maps shown as maps, and these by pointer; what is set by hand wins over what values look like."""
    found: dict[str, int] = {}

    def is_map(pointer: str, place: Evidence) -> bool:
        is_one = by_hand.get(pointer, by_likeness and is_alike_map(place))
        if is_one:
            found[pointer] = len(place.properties)
        return is_one

    return with_maps(evidence, is_map), found


def from_epochs(epochs: Mapping[int, Evidence], starts: Iterable[NodeStart]) -> tuple[Evidence, dict[str, Evidence]]:
    """The sum of all epochs, with what was started afresh from its own epoch on; and by pointer what came since."""
    total = summed(epochs.values())
    since: dict[str, Evidence] = {}
    for start in sorted(starts):
        later = summed(evidence for epoch, evidence in epochs.items() if epoch >= start.epoch)
        total = grafted(total, split_pointer(start.pointer), later)
        since = {pointer: came for pointer, came in since.items() if not is_within(pointer, start.pointer)}
        since[start.pointer] = later
    return total, since


def chances_since(
    whole: Evidence, sums: Sequence[tuple[Evidence, Mapping[str, Evidence]]]
) -> Iterator[tuple[str, int | None]]:
    """How often each node that was started afresh could have been there since: as often as its parent was an object.

    Where a step stands for every name, also for each name by itself.
    """
    for pointer in sorted({pointer for _, since in sums for pointer in since}):
        *outer, last = split_pointer(pointer) or [ITEMS]
        parents: Counter[str] = Counter()
        for total, since in sums:
            for above, parent in matching(since.get(pointer, total), outer):
                parents[above] += parent.counts.get("object", 0)
        is_named = last not in (ITEMS, VALUES)
        yield pointer, parents.total() if is_named else None
        if VALUES in outer:
            for here, _ in matching(whole, split_pointer(pointer)):
                yield here, parents[here.rpartition("/")[0]] if is_named else None


def grafted(whole: Evidence, steps: Sequence[str], later: Evidence) -> Evidence:
    """`whole` with what is at `steps` as `later` has it; a place that has nothing later stays, and is empty."""
    if not steps:
        return later
    first, *rest = steps
    result = shallow(whole)
    if first == ITEMS and whole.items is not None:
        result.items = grafted(whole.items, rest, later.items or Evidence())
    if first == VALUES and whole.values is not None:
        result.values = grafted(whole.values, rest, later.values or Evidence())
    for name in (name for name in whole.properties if first in (VALUES, property_step(name))):
        place = whole.properties[name]
        result.properties[name] = grafted(place, rest, later.properties.get(name) or unseen(place))
    return result


def unseen(place: Evidence) -> Evidence:
    """The same place before anything was seen there; that its name is sensitive does not change."""
    empty = Evidence()
    empty.redacted = place.redacted
    return empty


def matching(evidence: Evidence, steps: Sequence[str], pointer: str = "") -> Iterator[tuple[str, Evidence]]:
    """The places at `steps`, each by its own pointer."""
    if not steps:
        yield pointer, evidence
        return
    first, *rest = steps
    for step, here, child in list_children(evidence, pointer):
        if step == first or (first == VALUES and step != ITEMS):
            yield from matching(child, rest, here)


def with_maps(evidence: Evidence, is_map: IsMap, pointer: str = "") -> Evidence:
    """The same with what stands under the names of maps summed as their values; itself where there is no map."""
    named = evidence
    if evidence.properties and is_map(pointer, evidence):
        named = shallow(evidence)
        named.properties = {}
        named.values = summed([*evidence.properties.values(), *([evidence.values] if evidence.values else [])])
    result = named
    for step, here, child in list_children(named, pointer):
        changed = with_maps(child, is_map, here)
        if changed is not child:
            result = shallow(named) if result is evidence else result
            put(result, step, changed)
    return result


def put(evidence: Evidence, step: str, child: Evidence) -> None:
    if step == ITEMS:
        evidence.items = child
    elif step == VALUES:
        evidence.values = child
    else:
        evidence.properties[property_name(step)] = child


def summed(parts: Iterable[Evidence]) -> Evidence:
    """Their sum; the one itself if there is only one."""
    held = list(parts)
    if len(held) == 1:
        return held[0]
    total = Evidence()
    for evidence in held:
        total.add(evidence)
    return total


def shallow(evidence: Evidence) -> Evidence:
    """A copy that can be told other places; those that it has are shared."""
    copy = Evidence()
    copy.counts, copy.redacted, copy.collapsed = dict(evidence.counts), evidence.redacted, evidence.collapsed
    copy.items, copy.values, copy.properties = evidence.items, evidence.values, dict(evidence.properties)
    copy.first, copy.last = evidence.first, evidence.last
    return copy
