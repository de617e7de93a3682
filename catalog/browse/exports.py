"""The tables of the catalog's pages as they are downloaded: all rows, columns named as in contract 5."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from django.db.models import QuerySet

from catalog import queries
from catalog.browse.tree_rows import Node, list_part_nodes
from catalog.drift.compare import Change
from catalog.drift.environments import Difference
from catalog.drift.history import Compared
from catalog.evidence.parts import PartShape
from catalog.models import Drift, Operation, WitnessReport
from wire.tables import Table

OPERATIONS = (
    "method", "path", "observations", "statuses", "properties", "undecided", "firstSeenAt", "lastSeenAt",
    "unknowns", "driftedAt",
)  # fmt: skip
PARKED = ("reportId", "reporter", "receivedAt", "parkedAt", "fault")
CHANGE = ("part", "pointer", "change", "before", "after", "breaksFor")
DRIFT = ("at", "since", "method", "path", "version", *CHANGE, "seen", "of", "lastDay")
DIFFERENCE = ("method", "path", *CHANGE)
VERSIONS = ("version", "at", "since", "observations", "byHand")
RESPONSES = ("status", "observations")
PROPERTIES = (
    "part", "status", "pointer", "type", "reason", "seen", "parents", "presence", "nulls", "types",
    "redacted", "firstDay", "lastDay",
)  # fmt: skip


def operations(found: QuerySet[Operation]) -> Table:
    return Table("operations", OPERATIONS, lambda: (operation_row(row) for row in found.iterator()))


def operation_row(row: Operation) -> Sequence[Any]:
    statuses = {str(status): count for status, count in row.status_counts}
    undecided = [segment for segment, _ in row.undecided_segments]
    seen = (row.first_seen_at, row.last_seen_at)
    state = (row.unknowns, row.drifted_at)
    return (row.method, row.path, row.observations, statuses, row.properties, undecided, *seen, *state)


def parked(found: QuerySet[WitnessReport]) -> Table:
    return Table("parked", PARKED, lambda: (parked_row(report) for report in found.iterator()))


def parked_row(report: WitnessReport) -> Sequence[Any]:
    return (str(report.report_id), report.reporter, report.received_at, report.dead_lettered_at, report.fault)


def drift(found: QuerySet[Drift]) -> Table:
    return Table("drift", DRIFT, lambda: (drift_row(row) for row in found.iterator()))


def drift_row(row: Drift) -> Sequence[Any]:
    where = (row.operation.method, row.operation.path, row.version)
    day = row.last_day
    since, last = (None, day.isoformat()) if day else (row.since, None)
    return (row.at, since, *where, *change_cells(row), row.seen, row.of, last)


def difference(rows: Callable[[], Iterable[Difference]]) -> Table:
    return Table(
        "difference", DIFFERENCE, lambda: ((row.method, row.path, *change_cells(row.change)) for row in rows())
    )


def versions(operation: Operation) -> Table:
    shown = queries.versions(operation).values_list("number", "at", "since", "observations", "by_hand")
    return Table("versions", VERSIONS, shown.iterator)


def changes(found: Compared | None) -> Table:
    return Table("changes", CHANGE, lambda: map(change_cells, found.changes if found else ()))


def change_cells(change: Change | Drift) -> Sequence[Any]:
    return (change.part, change.pointer, change.kind, change.before, change.after, change.breaks)


def responses(row: Operation) -> Table:
    return Table("responses", RESPONSES, lambda: row.status_counts)


def properties(shapes: Sequence[PartShape]) -> Table:
    """Every node of every part, whatever a page shows of it."""
    return Table("properties", PROPERTIES, partial(property_rows, shapes))


def property_rows(shapes: Sequence[PartShape]) -> Iterator[Sequence[Any]]:
    for shape in shapes:
        for node in list_part_nodes(shape):
            yield (shape.part.name, shape.part.status, *node_cells(node))


def node_cells(node: Node) -> Sequence[Any]:
    days = [day.isoformat() if day else None for day in (node.first, node.last)]
    counted = (node.seen, node.parents, node.presence, node.nulls, node.types)
    return (node.pointer, node.type, node.reason, *counted, node.redacted, *days)
