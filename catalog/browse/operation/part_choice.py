"""Choose the part of an operation that its page shows."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.browse.operation.tree_search import find_nodes, find_unknown_nodes
from catalog.evidence.parts import PartShape, list_part_nodes


def choose_matching_part(
    words: Sequence[str], shapes: Sequence[PartShape], key: str, *, shows_unknown: bool = False
) -> PartShape:
    """Return the part that the address names, else the usual one.

    If the address names none, a search selects the usual part if it has a match, else the first part that has one.

    shows_unknown: whether to select the first part with an unknown type, if there is no search.
    """
    usual = _choose_part(shapes, key)
    if usual.key == key or not (words or shows_unknown):
        return usual
    with_match = (shape for shape in (usual, *shapes) if _has_match(shape, words))
    return next(with_match, usual)


def _has_match(shape: PartShape, words: Sequence[str]) -> bool:
    nodes = list(list_part_nodes(shape))
    return bool(find_nodes(nodes, words).pointers if words else find_unknown_nodes(nodes))


def list_other_matches(
    words: Sequence[str], shapes: Sequence[PartShape], shown_part: PartShape
) -> list[tuple[PartShape, int]]:
    """Return the other parts in which the search finds nodes, with the number of these nodes."""
    other_shapes = [shape for shape in shapes if shape.key != shown_part.key] if words else []
    counts = [(shape, len(find_nodes(list(list_part_nodes(shape)), words).pointers)) for shape in other_shapes]
    return [(shape, count) for shape, count in counts if count]


def _choose_part(shapes: Sequence[PartShape], key: str) -> PartShape:
    """Return the part with this key; else the first 2xx, else the first response, else the first of all."""
    responses = [shape for shape in shapes if shape.part.status]
    successes = [shape for shape in responses if 200 <= (shape.part.status or 0) < 300]
    with_key = [shape for shape in shapes if shape.key == key]
    return [*with_key, *successes, *responses, *shapes][0]
