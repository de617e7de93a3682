"""Whether what stands behind two segments of one place is the same operation, by the shapes that it has.

The same shape behind many siblings is one operation, different shapes are not (contract 4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import combinations
from statistics import median_low
from typing import NamedTuple

from .templates import is_scaffold
from .tree import Place
from .value_index import ROOTS
from .vocabulary import is_action

MAX_DEPTH = 3  # segments, scaffold apart, that are looked at behind the one in question
MAX_COMPARED = 12  # siblings that are compared each with each
ALIKE = 0.7
UNLIKE = 0.5


class End(NamedTuple):
    """One way on to an answer. rest: the segments of it; None stands for data."""

    method: str
    rest: tuple[str | None, ...]


Shapes = Mapping[End, frozenset[str]]


def shapes_behind(places: Iterable[Place]) -> Shapes:
    """The shapes that stand behind places which are taken for one."""
    found: dict[End, frozenset[str]] = {}
    for place in places:
        _gather(found, place, ())
    return found


def likeness(some: Shapes, others: Shapes) -> float | None:
    """From 0 to 1: how much of the shapes under the same ends is the same; None if nothing can be compared.

    An end where only one of both has JSON counts as unlike.
    """
    compared = (
        _overlap(shape, others[end]) for end, shape in some.items() if others.get(end) or (shape and end in others)
    )
    shared = [found for found in compared if found is not None]
    return median_low(sorted(shared)) if shared else None


def likeness_among(groups: Sequence[Shapes]) -> float | None:
    """The same for several, each compared with each."""
    pairs = (likeness(one, other) for one, other in combinations(groups[:MAX_COMPARED], 2))
    shared = [found for found in pairs if found is not None]
    return median_low(sorted(shared)) if shared else None


def going_on_alike(beginnings: Mapping[str, Shapes]) -> set[str]:
    """Those that go on with a word of the API, and an answer to it, which two others have as well."""
    sharing: dict[End, list[str]] = defaultdict(list)
    for segment, shapes in beginnings.items():
        for end in shapes:
            if any(word and not is_scaffold(word) and not is_action(word) for word in end.rest):
                sharing[end].append(segment)
    found = set[str]()
    for end, segments in sharing.items():
        alike = likeness_among([{end: beginnings[segment][end]} for segment in segments])
        if len(segments) > 2 and alike is not None and alike >= ALIKE:
            found.update(segments)
    return found


def _gather(found: dict[End, frozenset[str]], place: Place, rest: tuple[str | None, ...]) -> None:
    for method, shape in place.shapes.items():
        end = End(method, rest)
        found[end] = found.get(end, frozenset()) | shape
    if sum(segment is None or not is_scaffold(segment) for segment in rest) < MAX_DEPTH:
        for segment, following in place.words.items():
            _gather(found, following, (*rest, segment))
        if place.data is not None:
            _gather(found, place.data, (*rest, None))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float | None:
    """Of the union. A part that one side has and the other lacks may be optional; that both share little is not.

    What an empty list or a null of the other side could have held says nothing; None if that is most of it.
    """
    shared, union = len((one & other) - ROOTS), len(one | other)
    told = shared + _told(one - other, other) + _told(other - one, one)
    return shared / told if 2 * told >= union else None


def _told(extra: Set[str], other: Set[str]) -> int:
    """How many places of one shape the other, too, could have."""
    if not extra:
        return 0
    full = {_parent(place) for place in other}
    return sum(all(above not in other or above in full for above in _above(place)) for place in extra)


def _above(place: str) -> Iterator[str]:
    """`>.orders[].id` stands below `>.orders`."""
    while place := _parent(place):
        yield place


def _parent(place: str) -> str:
    return place.rpartition(".")[0].rstrip("[]")
