"""Which active baseline resets hide evidence of a part or a node, and from which epoch on it is shown."""

from __future__ import annotations

from catalog.evidence.epoch_sums import NodeReset
from catalog.models import BaselineReset, Operation
from catalog.shape_pointers import is_within


def list_node_resets(operation: Operation, key: str) -> list[NodeReset]:
    """Return the active resets of nodes in a part."""
    resets = (reset for reset in operation.baseline_resets.all() if reset.is_active and reset.part == key)
    return [NodeReset(reset.epoch, reset.pointer) for reset in resets if reset.epoch > operation.shown_from]


def first_visible_epoch(operation: Operation, key: str) -> int:
    """Return the epoch from which a part is shown: that of the latest reset of the part or of the operation."""
    reset = find_part_reset(operation, key)
    return reset.epoch if reset else 0


def find_node_reset(operation: Operation, key: str, pointer: str) -> BaselineReset | None:
    """Return the latest active reset that hides evidence of a node.

    It is a reset of the node, of a node around it, of its part or of the operation.
    """
    hiding = (
        reset
        for reset in operation.baseline_resets.all()
        if reset.is_active and reset.part in ("", key) and is_within(pointer, reset.pointer)
    )
    return max(hiding, key=lambda reset: reset.epoch, default=None)


def find_part_reset(operation: Operation, key: str) -> BaselineReset | None:
    """Return the latest active reset of a whole part: its own, or the operation's; None without any."""
    whole = (reset for reset in operation.baseline_resets.all() if reset.is_active and not reset.pointer)
    return max((reset for reset in whole if reset.part in ("", key)), key=lambda reset: reset.epoch, default=None)
