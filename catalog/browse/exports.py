"""The tables of the catalog's pages as they are downloaded: all rows, columns named as in contract §5."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from catalog.browse.presence_counts import list_presence
from catalog.browse.tree_search import find_nodes
from catalog.evidence.days import Gap, ObservedDays
from catalog.evidence.nodes import Node
from catalog.evidence.parts import PartShape, list_part_nodes
from catalog.models import ExcessOperation, Operation, WitnessReport
from wire.table_exports import Table

OPERATION_COLUMNS = (
    "method", "path", "observations", "statuses", "properties", "undecided", "firstSeenAt", "lastSeenAt",
    "unknowns", "driftedAt", "observationsInPeriod", "lastVerifiedAt", "noLongerSeen", "probablyGone",
    "countedFromDay",
)  # fmt: skip
OPERATIONS_AT_ONCE = 500
DEAD_LETTER_COLUMNS = ("reportId", "reporter", "receivedAt", "parkedAt", "fault")
EXCESS_COLUMNS = ("method", "path", "observations", "firstReportedAt", "lastReportedAt")
RESPONSE_COLUMNS = ("status", "observations", "mediaTypes")
PROPERTY_COLUMNS = (
    "part", "status", "pointer", "type", "reason", "seen", "parents", "presence", "nulls", "types",
    "redacted", "firstDay", "lastDay", "seenInPeriod", "parentsInPeriod",
)  # fmt: skip


def export_operations(
    operations: QuerySet[Any],
    verified: Mapping[int, datetime],
    count_absent: Callable[[], tuple[Mapping[int, int], Mapping[int, int]]],
    find_gaps: Callable[[Sequence[Any]], Mapping[int, Gap]],
) -> Table:
    """Return the table of operations.

    verified: when each operation was last verified, by its row id.
    count_absent: called when the table is downloaded; returns how many properties are no longer seen, and how many are
        probably gone, by operation.
    find_gaps: returns which operations have no counts for some days of the period, by their row ids.
    """

    def list_rows() -> Iterator[Sequence[Any]]:
        absent, probably_gone = count_absent()
        rows = operations.iterator()
        while batch := list(islice(rows, OPERATIONS_AT_ONCE)):
            gaps = find_gaps(batch)
            for operation in batch:
                yield _operation_row(
                    operation,
                    gaps.get(operation.pk),
                    verified.get(operation.pk),
                    absent.get(operation.pk, 0),
                    probably_gone.get(operation.pk, 0),
                )

    return Table("operations", OPERATION_COLUMNS, list_rows)


def _operation_row(
    operation: Any, gap: Gap | None, verified_at: datetime | None, absent: int, probably_gone: int
) -> Sequence[Any]:
    in_period = operation.observations_in_period
    statuses = {str(status): count for status, count in operation.status_counts}
    properties = operation.properties - absent - probably_gone
    undecided_segments = [segment for segment, _ in operation.undecided_segments]
    return (
        operation.method, operation.path, operation.observations, statuses, properties,
        undecided_segments, operation.first_seen_at, operation.last_seen_at, operation.unknowns, operation.drifted_at,
        in_period or (None if gap else 0), verified_at, absent, probably_gone,
        gap.counted_from.isoformat() if gap and gap.counted_from and in_period else None,
    )  # fmt: skip


def export_dead_letters(reports: QuerySet[WitnessReport]) -> Table:
    return Table("parked", DEAD_LETTER_COLUMNS, lambda: map(_dead_letter_row, reports.iterator()))


def _dead_letter_row(report: WitnessReport) -> Sequence[Any]:
    return (str(report.report_id), report.reporter, report.received_at, report.dead_lettered_at, report.fault)


def export_excess(operations: QuerySet[ExcessOperation]) -> Table:
    return Table("beyondLimit", EXCESS_COLUMNS, lambda: map(_excess_row, operations.iterator()))


def _excess_row(row: ExcessOperation) -> Sequence[Any]:
    return (row.method, row.key, row.observations, row.first_reported_at, row.last_reported_at)


def export_responses(operation: Operation) -> Table:
    return Table("responses", RESPONSE_COLUMNS, lambda: _response_rows(operation))


def _response_rows(operation: Operation) -> Iterator[Sequence[Any]]:
    for status, count in operation.status_counts:
        yield status, count, dict(operation.count_media_types(str(status)))


def export_properties(shapes: Sequence[PartShape], observed_days: ObservedDays | None, words: Sequence[str]) -> Table:
    """Return all nodes of all parts, or only those that the words find. The page may show fewer of them.

    observed_days: the days of the period; None for all time.
    """
    return Table("properties", PROPERTY_COLUMNS, partial(_property_rows, shapes, observed_days, words))


def _property_rows(
    shapes: Sequence[PartShape], observed_days: ObservedDays | None, words: Sequence[str]
) -> Iterator[Sequence[Any]]:
    for shape in shapes:
        nodes = list(list_part_nodes(shape))
        presence = list_presence(nodes, observed_days.build_part(shape) if observed_days else None)
        pointers = find_nodes(nodes, words).pointers if words else presence.keys()
        for node in nodes:
            if node.pointer not in pointers:
                continue
            in_period = presence[node.pointer]
            cells = (shape.part.name, shape.part.status, *_node_cells(node))
            yield (*cells, in_period.seen, in_period.parents)


def _node_cells(node: Node) -> Sequence[Any]:
    first_day, last_day = (day.isoformat() if day else None for day in (node.first_day, node.last_day))
    return (
        node.pointer, node.type, node.reason, node.seen, node.parents, node.presence, node.nulls, node.types,
        node.redacted, first_day, last_day,
    )  # fmt: skip
