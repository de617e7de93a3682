"""The tables of an environment comparison as they are downloaded: all rows, columns named as in contract §5."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from typing import Any

from catalog.drift.environment_comparison.differences import OperationChange
from catalog.drift.environment_comparison.extent import CatalogExtent
from catalog.drift.environment_comparison.summary import LostProperty
from catalog.drift.exports import CHANGE_COLUMNS, list_change_cells
from catalog.drift.presence.current_presence import CurrentPresence
from wire.table_exports import Table

COMPARISON_COLUMNS = (
    "method", "path", *CHANGE_COLUMNS, "certain", "state", "seen", "of", "absent",
    "stateAgainst", "seenAgainst", "ofAgainst", "absentAgainst",
)  # fmt: skip
LOST_COLUMNS = ("method", "path", "part", "pointer", "state", "stateAgainst")
EXTENT_COLUMNS = (
    "environment",
    "operations",
    "properties",
    "noLongerSeen",
    "firstSeenAt",
    "lastSeenAt",
    "probablyGone",
)


def export_comparison(list_changes: Callable[[], Iterable[OperationChange]]) -> Table:
    """Return the table of an environment comparison; `list_changes` is called when it is downloaded."""
    return Table("difference", COMPARISON_COLUMNS, lambda: map(_comparison_row, list_changes()))


def _comparison_row(row: OperationChange) -> Sequence[Any]:
    presence = (*_list_presence_cells(row.before), *_list_presence_cells(row.after))
    return (row.method, row.path, *list_change_cells(row.change), row.is_certain, *presence)


def _list_presence_cells(presence: CurrentPresence | None) -> Sequence[Any]:
    return (presence.state, presence.seen, presence.of, presence.absent) if presence else (None,) * 4


def export_lost(list_lost: Callable[[], Iterable[LostProperty]]) -> Table:
    """Return the table of what both environments have lost; `list_lost` is called when it is downloaded."""
    return Table("lostByBoth", LOST_COLUMNS, lambda: map(astuple, list_lost()))


def export_extents(list_extents: Callable[[], Iterable[CatalogExtent]]) -> Table:
    """Return the table of the compared environments; `list_extents` is called when it is downloaded."""
    return Table("environments", EXTENT_COLUMNS, lambda: map(_extent_row, list_extents()))


def _extent_row(extent: CatalogExtent) -> Sequence[Any]:
    counts = (extent.operations, extent.properties, extent.no_longer_seen)
    return (extent.environment.name, *counts, extent.first_seen_at, extent.last_seen_at, extent.probably_gone)
