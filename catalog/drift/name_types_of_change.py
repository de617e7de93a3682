"""The names of a field's types in a change; outlines only say that there are several."""

from __future__ import annotations

from dataclasses import replace

from catalog.drift.compare_outlines import Change
from catalog.evidence.parts import find_node
from catalog.evidence.type_names import SEVERAL_TYPES
from catalog.models import Operation


def name_types(change: Change, before: Operation | None, after: Operation | None) -> Change:
    """Return the change with "several types" replaced by the names that are known now.

    before, after: the operations of its two sides.
    """
    return replace(
        change, before=_find_names(change, change.before, before), after=_find_names(change, change.after, after)
    )


def _find_names(change: Change, words: str, operation: Operation | None) -> str:
    if SEVERAL_TYPES not in words or operation is None:
        return words
    _, node = find_node(operation, change.part, change.pointer)
    if node is None or " or " not in node.type:
        return words
    return f"{node.type} or null" if words.endswith(" or null") else node.type
