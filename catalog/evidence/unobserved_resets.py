"""Baseline resets after which nothing was observed yet.

It is not known whether the API still sends what such a reset hides.
"""

from __future__ import annotations

from collections.abc import Mapping

from catalog.evidence.active_resets import find_part_reset
from catalog.evidence.nodes import Node
from catalog.evidence.parts import count_statuses
from catalog.models import BaselineReset, Operation
from catalog.shape_pointers import is_within


def count_before_reset(operation: Operation) -> int:
    """Return how many observations the active resets of the whole operation hide."""
    return int(operation.observations - count_statuses(operation, "").total())


def find_unobserved_reset(operation: Operation, key: str = "") -> BaselineReset | None:
    """Return the active reset of a part after which nothing of it was observed; None if there is none.

    key: the part; "" for the whole operation.
    """
    reset = find_part_reset(operation, key)
    if reset is None:
        return None
    counts = count_statuses(operation, key)
    if key.isdigit():
        observations = counts[int(key)]
    else:
        observations = sum(count for status, count in counts.items() if not key or 200 <= status < 400)
    return None if observations else reset


def list_unobserved_bodies(operation: Operation) -> list[str]:
    """Return the statuses that had a body before a baseline reset, and were not observed since."""
    statuses = {part.status for row in operation.merged_rows for part in row.parts.all() if part.status}
    return [str(status) for status in sorted(statuses) if find_unobserved_reset(operation, str(status))]


def find_unobserved_node_reset(
    operation: Operation, key: str, nodes: Mapping[str, Node], pointer: str
) -> BaselineReset | None:
    """Return the latest active reset of this node, or of a node around it, after which nothing was observed yet.

    That is so if the reset node was not seen since, and its parent was never an object since.

    nodes: all nodes of the part, by pointer.
    """
    for reset in operation.baseline_resets.all():
        is_around = reset.is_active and reset.part == key and reset.pointer and is_within(pointer, reset.pointer)
        node = nodes.get(reset.pointer) if is_around else None
        if node and node.is_reset and not node.seen and not node.parents:
            return reset
    return None
