"""Load the properties of an environment that are no longer seen, in few queries, for downloads and pages."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

from django.db.models import Prefetch

from affidavit.operations import Identity, part_key
from catalog.change_kinds import NO_LONGER_SEEN
from catalog.drift.presence.current_presence import AbsentProperties, list_no_longer_seen
from catalog.drift.presence.stored_absences import find_absence_states
from catalog.evidence.parts import part_of
from catalog.models import Drift, Operation, OperationPart
from catalog.operation_queries import visible_operations
from workspaces.models import Environment


def load_no_longer_seen(environment: Environment) -> dict[Identity, AbsentProperties]:
    """Return the properties that are no longer seen, without those inside them, by operation.

    Operations without any are left out.
    """
    places = load_places_no_longer_seen(environment)
    last_days = _load_last_days(environment, [operation.pk for operation in places])
    return {
        operation.identity: {place: last_days.get((operation.pk, *place)) for place in absent}
        for operation, absent in places.items()
    }


def load_places_no_longer_seen(
    environment: Environment, operations: Collection[Operation] | None = None
) -> dict[Operation, list[tuple[str, str]]]:
    """Return part and pointer of each property that is no longer seen, by visible operation.

    operations: None for all.
    """
    parts = Prefetch("parts", OperationPart.objects.defer("evidence"))
    candidates = visible_operations(environment).filter(pk__in=_find_candidates(environment, operations))
    rows = candidates.defer("document", "search").prefetch_related(parts, "baseline_resets")
    places = {operation: _list_places_no_longer_seen(operation) for operation in rows}
    return {operation: absent for operation, absent in places.items() if absent}


def find_no_longer_seen_of(operation: Operation) -> AbsentProperties:
    """Return the properties of one operation that are no longer seen, without those inside them."""
    last_days = _load_last_days(operation.environment, [operation.pk])
    places = _list_places_no_longer_seen(operation)
    return {(part, pointer): last_days.get((operation.pk, part, pointer)) for part, pointer in places}


def _find_candidates(environment: Environment, operations: Collection[Operation] | None) -> set[int]:
    """Return the ids of operations that may have properties that are no longer seen; a reset can hide these."""
    rows = OperationPart.objects.filter(environment=environment).exclude(absences={})
    if operations is not None:
        rows = rows.filter(operation__in=operations)
    states = rows.values_list("operation_id", "absences").iterator()
    return {operation for operation, absences in states if any(list_no_longer_seen(absences))}


def _list_places_no_longer_seen(operation: Operation) -> list[tuple[str, str]]:
    parts = dict.fromkeys(part_of(row) for row in operation.parts.all())
    return [
        (part_key(part), pointer)
        for part in parts
        for pointer in list_no_longer_seen(find_absence_states(operation, part))
    ]


def _load_last_days(environment: Environment, operations: Collection[int]) -> dict[tuple[int, str, str], date | None]:
    drift = Drift.objects.filter(environment=environment, operation__in=operations, kind=NO_LONGER_SEEN).order_by("id")
    return {(change.operation_id, change.part, change.pointer): change.last_day for change in drift}
