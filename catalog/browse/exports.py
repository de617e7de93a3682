"""The tables of the catalog's pages as they are downloaded: all rows, columns named as in contract §5."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from catalog.evidence.observed_days import Gap
from catalog.models import ExcessOperation, WitnessReport
from wire.batches import split_into_batches
from wire.table_exports import Table

OPERATION_COLUMNS = (
    "method", "path", "observations", "statuses", "properties", "undecided", "firstSeenAt", "lastSeenAt",
    "unknowns", "driftedAt", "observationsInPeriod", "lastVerifiedAt", "noLongerSeen", "probablyGone",
    "countedFromDay",
)  # fmt: skip
OPERATIONS_AT_ONCE = 500
DEAD_LETTER_COLUMNS = ("reportId", "reporter", "receivedAt", "parkedAt", "fault")
EXCESS_COLUMNS = ("method", "path", "observations", "firstReportedAt", "lastReportedAt")


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
        for batch in split_into_batches(operations.iterator(), OPERATIONS_AT_ONCE):
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
