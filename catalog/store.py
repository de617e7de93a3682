"""Sums to rows and back: a sum is merged into every operation that it touches, by one read and one write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from affidavit import Evidence
from catalog.models import Operation, OperationPart
from catalog.projection import project
from catalog.summing import Identity, OperationSum, Part, Sums
from workspaces.models import Environment

OPERATIONS_AT_ONCE = 100  # bounds the memory and the length of a statement
IDENTITY = ["environment", "method", "key"]
PART_IDENTITY = ["operation", "part", "status"]
SUMMED = [field.name for field in Operation._meta.concrete_fields if field.name not in {"id", *IDENTITY}]


def merge_into_catalog(environment: Environment, sums: Sums) -> None:
    """Add `sums` to the catalog. The caller holds the environment's lock."""
    touched = list(sums)
    for start in range(0, len(touched), OPERATIONS_AT_ONCE):
        merge_some(environment, dict(touched[start : start + OPERATIONS_AT_ONCE]))


def merge_some(environment: Environment, touched: Mapping[Identity, OperationSum]) -> None:
    total = stored_sums(environment, touched)
    for identity, summed in touched.items():
        if identity in total:
            total[identity].add(summed)
        else:
            total[identity] = summed
    rows = {identity: operation_row(environment, identity, summed) for identity, summed in total.items()}
    Operation.objects.bulk_create(rows.values(), update_conflicts=True, unique_fields=IDENTITY, update_fields=SUMMED)
    parts = [
        part_row(rows[identity], part, evidence)
        for identity, summed in total.items()
        for part, evidence in summed.evidence.items()
        if part in touched[identity].evidence
    ]
    OperationPart.objects.bulk_create(
        parts, update_conflicts=True, unique_fields=PART_IDENTITY, update_fields=["evidence"]
    )


def stored_sums(environment: Environment, touched: Mapping[Identity, OperationSum]) -> dict[Identity, OperationSum]:
    """What the catalog holds of these operations; those it does not know are absent."""
    rows = Operation.objects.filter(
        environment=environment,
        method__in={identity.method for identity in touched},
        key__in={identity.key for identity in touched},
    ).prefetch_related("parts")
    found = {Identity(row.method, row.key): row for row in rows.defer("document", "outline", "search")}
    return {identity: sum_of(row) for identity, row in found.items() if identity in touched}


def sum_of(row: Operation) -> OperationSum:
    """The sum that a row and its parts hold."""
    return OperationSum.from_state(
        {
            "first": int(row.first_seen_at.timestamp()),
            "last": int(row.last_seen_at.timestamp()),
            "statuses": row.statuses,
            "names": row.names,
            "types": row.types,
            "undecided": row.undecided,
            "parts": [(part.part, part.status, part.evidence) for part in row.parts.all()],
        }
    )


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


def part_row(operation: Operation, part: Part, evidence: Evidence) -> OperationPart:
    return OperationPart(operation=operation, part=part.name, status=part.status, evidence=evidence.to_state())
