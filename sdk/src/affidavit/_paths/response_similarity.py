"""Judge by the shapes of their responses whether two segments at one position belong to the same operation.

The same shape behind many siblings is one operation, different shapes are not (contract §4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from statistics import median_low
from typing import NamedTuple

from .exchange_facts import ROOTS
from .tree import PathNode
from .versions import is_scaffold

MAX_COMPARED_SEGMENTS = 3  # after the compared segment, not counting scaffold such as `api` or `v1`
ALIKE_SIMILARITY = 0.7
UNLIKE_SIMILARITY = 0.5


class End(NamedTuple):
    """What follows a node of the tree up to an answer: the segments, None for data, and the method of the request."""

    method: str
    segments: tuple[str | None, ...]


Shapes = Mapping[End, frozenset[str]]


def collect_shapes(nodes: Iterable[PathNode]) -> Shapes:
    """Return the shapes of the answers behind these nodes, which count as one position."""
    shapes: dict[End, frozenset[str]] = {}
    for node in nodes:
        _add_shapes(shapes, node, ())
    return shapes


def measure_similarity(first: Shapes, second: Shapes) -> float | None:
    """Return how much of the shapes at the same ends is equal, from 0 to 1; None if nothing can be compared.

    An end at which only one of the two has JSON counts as unlike.
    """
    ends = [end for end, shape in first.items() if second.get(end) or (shape and end in second)]
    return _find_median(_measure_overlap(first[end], second[end]) for end in ends)


def _find_median(similarities: Iterable[float | None]) -> float | None:
    comparable = sorted(similarity for similarity in similarities if similarity is not None)
    return median_low(comparable) if comparable else None


def _add_shapes(shapes: dict[End, frozenset[str]], node: PathNode, segments: tuple[str | None, ...]) -> None:
    for method, shape in node.shapes.items():
        end = End(method, segments)
        shapes[end] = shapes.get(end, frozenset()) | shape
    if sum(segment is None or not is_scaffold(segment) for segment in segments) < MAX_COMPARED_SEGMENTS:
        for segment, following in node.words.items():
            _add_shapes(shapes, following, (*segments, segment))
        if node.data is not None:
            _add_shapes(shapes, node.data, (*segments, None))


def _measure_overlap(first: frozenset[str], second: frozenset[str]) -> float | None:
    """Return the share of comparable pointers that both shapes have; None if most cannot be compared.

    A pointer that only one shape has lowers the share, unless the other shape has an empty list or null above it, so
    that the two cannot be compared there.
    """
    shared_count, union = len((first & second) - ROOTS), len(first | second)
    comparable = shared_count + _count_comparable(first - second, second) + _count_comparable(second - first, first)
    return shared_count / comparable if 2 * comparable >= union else None


def _count_comparable(extra: Set[str], shape: Set[str]) -> int:
    """Return how many pointers of `extra` could also be in `shape`."""
    if not extra:
        return 0
    parents = {_parent_pointer(pointer) for pointer in shape}
    return sum(
        all(ancestor not in shape or ancestor in parents for ancestor in _list_ancestors(pointer)) for pointer in extra
    )


@lru_cache(maxsize=20_000)
def _list_ancestors(pointer: str) -> tuple[str, ...]:
    """Return the pointers above a pointer: `>.orders` and `>` for `>.orders[].id`."""
    parent = _parent_pointer(pointer)
    return (parent, *_list_ancestors(parent)) if parent else ()


def _parent_pointer(pointer: str) -> str:
    return pointer.rpartition(".")[0].rstrip("[]")
