"""What is known of one drift change: the versions around it, its field as it is now, and what people decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from catalog.drift.history import PRESENCE_KINDS
from catalog.drift.queries import drift_with_operations
from catalog.evidence.nodes import Node
from catalog.evidence.parts import build_part_shapes, list_part_nodes
from catalog.models import Drift, DriftMute, OperationVersion
from catalog.queries import find_operation
from workspaces.models import Environment

MAX_SIBLINGS = 20  # other changes of the same version on the page


@dataclass(frozen=True)
class VersionsAround:
    """The version before a change and the one that has it; the former is None where the change made no version."""

    before: OperationVersion | None
    after: OperationVersion | None


def find_drift(environment: Environment, number: int | None) -> Drift | None:
    """Return the change with this number, with its operation."""
    return drift_with_operations(environment).filter(pk=number).first() if number is not None else None


def find_mute(drift: Drift, *, now: datetime) -> DriftMute | None:
    """Return the mute in force of this kind of change at this place."""
    mutes = DriftMute.objects.filter(environment=drift.environment_id, place_digest=drift.place_digest)
    return mutes.filter(until__gt=now).first()


def load_versions(drift: Drift) -> VersionsAround:
    """Return the versions around the change, without their outlines."""
    rows = OperationVersion.objects.filter(environment=drift.environment_id, operation=drift.operation_id)
    versions = {row.number: row for row in rows.filter(number__in=[drift.version - 1, drift.version]).defer("outline")}
    before = None if drift.kind in PRESENCE_KINDS else versions.get(drift.version - 1)
    return VersionsAround(before, versions.get(drift.version))


def find_current_node(environment: Environment, drift: Drift) -> Node | None:
    """Return the field as it is now; None where it is shown no more, or is a parameter of the path."""
    operation = find_operation(environment, drift.operation.method, drift.operation.path)
    for shape in build_part_shapes(operation) if operation else ():
        if shape.key == drift.part:
            return next((node for node in list_part_nodes(shape) if node.pointer == drift.pointer), None)
    return None


def list_siblings(drift: Drift) -> Sequence[Drift]:
    """Return other changes that were found at the same moment in the same operation, at most MAX_SIBLINGS."""
    rows: QuerySet[Drift] = Drift.objects.filter(
        environment=drift.environment_id, operation=drift.operation_id, at=drift.at
    )
    return list(rows.exclude(pk=drift.pk).order_by("id")[:MAX_SIBLINGS])
