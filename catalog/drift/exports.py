"""The tables of drift and versions as they are downloaded: all rows, columns named as in contract §5."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db.models import QuerySet

from catalog.drift.compare_outlines import Change
from catalog.drift.presence.operation_presence import ProbablyGone
from catalog.drift.queries import list_versions
from catalog.drift.version_comparison import VersionComparison
from catalog.models import Drift, Operation
from wire.table_exports import Table

CHANGE_COLUMNS = ("part", "pointer", "change", "before", "after", "breaksFor")
DRIFT_COLUMNS = (
    "id", "at", "since", "method", "path", "version", *CHANGE_COLUMNS, "seen", "of", "matching", "values", "lastDay",
    "acknowledgedAt", "acknowledgedBy", "mutedUntil",
)  # fmt: skip
PROBABLY_GONE_COLUMNS = ("method", "path", "part", "pointer", "seen", "of", "absent", "successor")
VERSION_COLUMNS = ("version", "at", "since", "observations", "byHand")


def export_drift(drift: QuerySet[Drift]) -> Table:
    return Table("drift", DRIFT_COLUMNS, lambda: map(_drift_row, drift.iterator()))


def export_probably_gone(list_gone: Callable[[], Iterable[ProbablyGone]]) -> Table:
    """Return the table of what is probably gone; `list_gone` is called when it is downloaded."""
    return Table("probablyGone", PROBABLY_GONE_COLUMNS, lambda: map(_probably_gone_row, list_gone()))


def _probably_gone_row(item: ProbablyGone) -> Sequence[Any]:
    operation, presence = item.operation, item.presence
    counts = (presence.seen, presence.of, presence.absent)
    return (operation.method, operation.path, item.part, item.pointer, *counts, item.successor or None)


def export_change(drift: Drift) -> Table:
    """Return a table with one row: the change, as the drift feed shows it."""
    return Table("change", DRIFT_COLUMNS, lambda: [_drift_row(drift)])


def _drift_row(drift: Any) -> Sequence[Any]:
    last_day = drift.last_day
    since, day = (None, last_day.isoformat()) if last_day else (drift.since, None)
    operation = drift.operation
    version = (drift.pk, drift.at, since, operation.method, operation.path, drift.version)
    decisions = (drift.acknowledged_at, drift.acknowledged_by or None, drift.muted_until)
    counts = (drift.seen, drift.of, drift.matching, drift.values)
    return (*version, *list_change_cells(drift), *counts, day, *decisions)


def export_versions(operation: Operation) -> Table:
    rows = list_versions(operation).values_list("number", "at", "since", "observations", "by_hand")
    return Table("versions", VERSION_COLUMNS, rows.iterator)


def export_changes(comparison: VersionComparison | None) -> Table:
    changes = comparison.changes if comparison else ()
    return Table("changes", CHANGE_COLUMNS, lambda: map(list_change_cells, changes))


def list_change_cells(change: Change | Drift) -> Sequence[Any]:
    return (change.part, change.pointer, change.kind, change.before, change.after, change.breaks)
