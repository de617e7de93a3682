"""Merge sums into the catalog: first the evidence as it was reported, then one projection of all that is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from affidavit.operations import DailySums, Identity, OperationSum, OperationSums
from catalog.catalog_revision import mark_changed
from catalog.drift.fold_result import FoldResult
from catalog.drift.record import build_drift, build_version
from catalog.evidence.reported_operation import ReportedOperation, build_empty_row, load_reported, save_parts
from catalog.ingest.daily_evidence import save_days, sum_days
from catalog.ingest.late_data import LateSums, load_calendars, store_late_evidence, sum_visible_late
from catalog.ingest.operation_limit import Room, delete_excess, record_excess
from catalog.models import Drift, Operation, OperationPart, OperationVersion
from catalog.operation_queries import prefetch_evidence
from catalog.rules.reproject import reproject
from catalog.rules.template_resolution import RuleSet
from catalog.rules.template_rules_in_force import load_template_rules
from workspaces.models import Environment

BATCH_OPERATIONS = 100  # bounds the memory and the length of a statement
IDENTITY_FIELDS = {"id", "environment", "method", "key"}
MERGED_FIELDS = [field.name for field in Operation._meta.concrete_fields if field.name not in IDENTITY_FIELDS]

AddedSums = Mapping[Identity, OperationSum]
"""The sums that a fold adds, by the operation as it was reported."""


class MergedOperation(NamedTuple):
    """A visible operation after a merge.

    hidden_operations: those shown under it to which evidence was added.
    """

    result: FoldResult
    operation: ReportedOperation
    hidden_operations: Sequence[ReportedOperation]

    def list_part_rows(self) -> Iterator[OperationPart]:
        """Yield the row of every part that got evidence, here or in an operation shown here, with its absences."""
        for part, (absences, _) in self.result.absences.items():
            row = self.operation.build_part_row(part)
            row.absences = absences
            yield row


def merge_into_catalog(environment: Environment, daily: DailySums, *, now: datetime) -> None:
    """Add `daily` to the catalog, with versions and drift. The caller holds the lock of the environment.

    New operations enter while there is room; those that do not fit are counted.
    """
    mark_changed(environment)
    rules = load_template_rules(environment)
    calendars = load_calendars(environment)
    days = sum_days(environment, daily, calendars)
    sums, late = store_late_evidence(environment, calendars, daily)
    room = Room(environment)
    excess: dict[Identity, int] = {}
    merged_row_ids: dict[Identity, int] = {}
    for batch in split_batches(sums, rules):
        rows = load_evidence(environment, list_identities(batch))
        fitting = admit_batch(batch, rows, room)
        excess |= count_excess(batch, fitting)
        if missing := list_identities(fitting) - rows.keys():
            rows |= create_rows(environment, missing, now=now)
        merge_batch(fitting, rows, rules, late, now=now)
        merged_row_ids |= {identity: rows[identity].pk for new_sums in fitting.values() for identity in new_sums}
    save_days(environment, days, merged_row_ids)
    delete_excess(environment, merged_row_ids)
    record_excess(environment, excess, now=now)


def list_identities(batch: Mapping[Identity, AddedSums]) -> set[Identity]:
    """Return the operations of a batch as they are shown and as they were reported."""
    return {*batch, *(identity for new_sums in batch.values() for identity in new_sums)}


def admit_batch(
    batch: Mapping[Identity, AddedSums], rows: Mapping[Identity, Operation], room: Room
) -> dict[Identity, AddedSums]:
    """Return the operations of a batch that are in the catalog or still fit into it."""
    sums_by_visible = {visible: room.admit(visible, new_sums, rows) for visible, new_sums in batch.items()}
    return {visible: new_sums for visible, new_sums in sums_by_visible.items() if new_sums}


def count_excess(batch: Mapping[Identity, AddedSums], fitting: Mapping[Identity, AddedSums]) -> dict[Identity, int]:
    """Return how many observations of a batch did not fit into the catalog, by the operation as reported."""
    return {
        identity: total.observations
        for visible, new_sums in batch.items()
        for identity, total in new_sums.items()
        if identity not in fitting.get(visible, {})
    }


def split_batches(sums: OperationSums, rules: RuleSet) -> Iterator[dict[Identity, AddedSums]]:
    """Yield batches of the sums by visible operation, so that each of these is projected and compared once."""
    by_visible: dict[Identity, dict[Identity, OperationSum]] = {}
    for identity, new_sum in sums:
        by_visible.setdefault(rules.visible_identity(identity), {})[identity] = new_sum
    batch: dict[Identity, AddedSums] = {}
    for visible in sorted(by_visible):
        batch[visible] = by_visible[visible]
        if sum(len(new_sum) for new_sum in batch.values()) >= BATCH_OPERATIONS:
            yield batch
            batch = {}
    if batch:
        yield batch


def merge_batch(
    batch: Mapping[Identity, AddedSums],
    rows: Mapping[Identity, Operation],
    rules: RuleSet,
    late: LateSums,
    *,
    now: datetime,
) -> None:
    """Merge these sums into their rows, and save them together."""
    operations = [merge_operation(rows, visible, new_sums, rules, late) for visible, new_sums in batch.items()]
    save_merged(operations, now=now)


def merge_operation(
    rows: Mapping[Identity, Operation], visible: Identity, new_sums: AddedSums, rules: RuleSet, late: LateSums
) -> MergedOperation:
    """Merge the added sums into a visible operation and those shown under it, and project them."""
    row = rows[visible]
    merged_rows = {merged_row.identity: merged_row for merged_row in row.merged_rows} | {
        key: rows[key] for key in new_sums
    }
    operations = {identity: load_reported(merged_row) for identity, merged_row in merged_rows.items()}
    for identity, added_sum in new_sums.items():
        operations[identity].add(added_sum)
    hidden_operations = [operations[identity] for identity in new_sums if identity != visible]
    for operation in hidden_operations:
        reproject([operation], rules)
        operation.row.shown_under = row
    result = project_visible(list(operations.values()), new_sums, rules, late)
    return MergedOperation(result, operations[visible], hidden_operations)


def project_visible(
    operations: Sequence[ReportedOperation], new_sums: AddedSums, rules: RuleSet, late: LateSums
) -> FoldResult:
    """Project a visible operation.

    operations: the reports of the operation itself, then those of each template that rules show there.
    """
    row = operations[0].row
    previous_version, previous_digest = row.version, bytes(row.outline_digest)
    total, maps = reproject(operations, rules)
    return FoldResult(
        row=row,
        previous_version=previous_version,
        previous_digest=previous_digest,
        total=total,
        maps=maps,
        new_sum=rules.sum_under(row.identity, ((identity.key, added_sum) for identity, added_sum in new_sums.items())),
        late=sum_visible_late(row, late),
    )


def load_evidence(environment: Environment, identities: Collection[Identity]) -> dict[Identity, Operation]:
    """Return the rows of these operations with their evidence, and perhaps others: a key with another's method."""
    rows = Operation.objects.filter(
        environment=environment,
        method__in={identity.method for identity in identities},
        key__in={identity.key for identity in identities},
    )
    return {row.identity: row for row in prefetch_evidence(rows)}


def create_rows(
    environment: Environment, identities: Collection[Identity], *, now: datetime
) -> dict[Identity, Operation]:
    """Create empty rows of these operations. Return them as `load_evidence` does."""
    Operation.objects.bulk_create(
        build_empty_row(environment, identity, seen_at=now) for identity in sorted(identities)
    )
    return load_evidence(environment, identities)


def save_merged(operations: Sequence[MergedOperation], *, now: datetime) -> None:
    results = [operation.result for operation in operations]
    hidden_operations = [operation for visible in operations for operation in visible.hidden_operations]
    drift = build_drift(results, now=now)
    rows = [*(result.row for result in results), *(operation.row for operation in hidden_operations)]
    Operation.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["environment", "id"], update_fields=MERGED_FIELDS
    )
    visible_parts = (row for operation in operations for row in operation.list_part_rows())
    save_parts(visible_parts, fields=("evidence", "absences"))
    save_parts(operation.build_part_row(part) for operation in hidden_operations for part in operation.changed_parts)
    versions = [build_version(result, now=now) for result in results if result.is_new_version]
    OperationVersion.objects.bulk_create(versions)
    Drift.objects.bulk_create(drift)
