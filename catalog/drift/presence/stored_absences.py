"""The stored absence counters of a part of an operation: those of its latest visible epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affidavit.operations import Part, part_key
from catalog.evidence.active_resets import first_visible_epoch, list_node_resets
from catalog.evidence.parts import part_of
from catalog.models import Operation, OperationPart
from catalog.shape_pointers import is_within


def find_absence_states(operation: Operation, part: Part) -> Mapping[str, Any]:
    """Return the absence counters of a part: of its latest visible epoch, without nodes that were reset since."""
    latest = find_absence_row(operation, part)
    if latest is None:
        return {}
    resets = [reset for reset in list_node_resets(operation, part_key(part)) if reset.epoch > latest.epoch]
    states: Mapping[str, Any] = latest.absences
    return {
        pointer: state
        for pointer, state in states.items()
        if not any(is_within(pointer, reset.pointer) for reset in resets)
    }


def find_absence_row(operation: Operation, part: Part) -> OperationPart | None:
    """Return the row of a part with the absence counters of its latest visible epoch; None if there are none."""
    first_epoch = first_visible_epoch(operation, part_key(part))
    # A fold copies all counters into the row of its epoch. A row with nothing but late evidence has no counters.
    rows = [row for row in operation.parts.all() if part_of(row) == part and row.epoch >= first_epoch and row.absences]
    return max(rows, key=lambda row: row.epoch, default=None)
