"""Sums to rows and back: a sum is merged into every operation that it touches, by one read and one write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from affidavit.operations import Identity, OperationSum, Part, Sums
from catalog import versions
from catalog.models import Drift, Operation, OperationPart, OperationVersion
from catalog.parts import shown_evidence
from catalog.projection import project
from catalog.versions import Folded
from workspaces.models import Environment

OPERATIONS_AT_ONCE = 100  # bounds the memory and the length of a statement
IDENTITY = ["environment", "method", "key"]
PART_IDENTITY = ["operation", "part", "status", "epoch"]
SUMMED = [field.name for field in Operation._meta.concrete_fields if field.name not in {"id", *IDENTITY}]


def merge_into_catalog(environment: Environment, sums: Sums, *, now: datetime) -> None:
    """Add `sums` to the catalog, with versions and drift. The caller holds the environment's lock."""
    touched = list(sums)
    for start in range(0, len(touched), OPERATIONS_AT_ONCE):
        merge_some(environment, dict(touched[start : start + OPERATIONS_AT_ONCE]), now=now)


def merge_some(environment: Environment, touched: Mapping[Identity, OperationSum], *, now: datetime) -> None:
    stored = stored_rows(environment, touched)
    folds = [merged(environment, identity, stored.get(identity), added) for identity, added in touched.items()]
    drift = versions.drift_of(folds, now=now)
    rows = [fold.row for fold in folds]
    Operation.objects.bulk_create(rows, update_conflicts=True, unique_fields=IDENTITY, update_fields=SUMMED)
    parts = [part_row(fold, part) for fold in folds for part in fold.added.evidence]
    OperationPart.objects.bulk_create(
        parts, update_conflicts=True, unique_fields=PART_IDENTITY, update_fields=["evidence", "silence"]
    )
    OperationVersion.objects.bulk_create([versions.version_row(fold, now=now) for fold in folds if fold.is_new_version])
    Drift.objects.bulk_create(drift)


def merged(environment: Environment, identity: Identity, stored: Operation | None, added: OperationSum) -> Folded:
    total = added
    if stored is not None:
        total = sum_of(stored)
        total.add(added)
    row = operation_row(environment, identity, total)
    if stored is not None:
        row.epoch, row.shown_from = stored.epoch, stored.shown_from
    return Folded(stored, row, total, added)


def part_row(fold: Folded, part: Part) -> OperationPart:
    return OperationPart(
        operation=fold.row,
        part=part.name,
        status=part.status,
        epoch=fold.row.epoch,
        evidence=fold.evidence_of_epoch(part).to_state(),
        silence=fold.silences[part][0],
    )


def stored_rows(environment: Environment, touched: Iterable[Identity]) -> dict[Identity, Operation]:
    """What the catalog holds of these operations; those it does not know are absent."""
    wanted = set(touched)
    rows = Operation.objects.filter(
        environment=environment,
        method__in={identity.method for identity in wanted},
        key__in={identity.key for identity in wanted},
    ).prefetch_related("parts")
    found = {Identity(row.method, row.key): row for row in rows.defer("document", "outline", "search")}
    return {identity: row for identity, row in found.items() if identity in wanted}


def sum_of(row: Operation) -> OperationSum:
    """The sum that a row and those of its parts hold that are shown."""
    summed = OperationSum.from_state(
        {
            "first": int(row.first_seen_at.timestamp()),
            "last": int(row.last_seen_at.timestamp()),
            "statuses": row.statuses,
            "names": row.names,
            "types": row.types,
            "undecided": row.undecided,
            "parts": [],
        }
    )
    summed.evidence = shown_evidence(row)
    return summed


def operation_row(environment: Environment, identity: Identity, summed: OperationSum) -> Operation:
    return Operation(
        environment=environment,
        method=identity.method,
        key=identity.key,
        first_seen_at=datetime.fromtimestamp(summed.first, UTC),
        last_seen_at=datetime.fromtimestamp(summed.last, UTC),
        **summed.facts(),
        **asdict(project(identity, summed)),
    )
