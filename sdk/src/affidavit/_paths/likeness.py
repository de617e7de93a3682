"""Whether what stands behind two segments of one place is the same operation, by the shapes that it has.

The same shape behind many siblings is one operation, different shapes are not (contract 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import median_low
from typing import NamedTuple

from .tree import Place

MAX_DEPTH = 3  # segments that are looked at behind the one in question
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
    shared = [
        _overlap(shape, others[end]) for end, shape in some.items() if others.get(end) or (shape and end in others)
    ]
    return median_low(sorted(shared)) if shared else None


def likeness_among(groups: Sequence[Shapes]) -> float | None:
    """The same for several, each compared with each."""
    pairs = (likeness(one, other) for one, other in combinations(groups[:MAX_COMPARED], 2))
    shared = [found for found in pairs if found is not None]
    return median_low(sorted(shared)) if shared else None


def _gather(found: dict[End, frozenset[str]], place: Place, rest: tuple[str | None, ...]) -> None:
    for method, shape in place.shapes.items():
        end = End(method, rest)
        found[end] = found.get(end, frozenset()) | shape
    if len(rest) < MAX_DEPTH:
        for segment, following in place.words.items():
            _gather(found, following, (*rest, segment))
        if place.data is not None:
            _gather(found, place.data, (*rest, None))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Of the union. A part that one side has and the other lacks may be optional; that both share little is not."""
    return len(one & other) / len(one | other)
