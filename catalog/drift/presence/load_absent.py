"""Load the properties of an environment that are absent now: no longer seen, probably gone, or absent lately."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from django.db.models import BooleanField, Func, QuerySet

from catalog.drift.presence.absence_counters import AbsenceStates
from catalog.drift.presence.current_presence import (
    PresenceState,
    list_no_longer_seen,
    list_perhaps_absent,
)
from catalog.drift.presence.operation_presence import ComparedOperation, OperationKey
from catalog.models import Operation, OperationPart
from catalog.operation_queries import prefetch_evidence, visible_operations
from wire.batches import split_into_batches
from workspaces.models import Environment

OPERATIONS_AT_ONCE = 50  # the evidence of so many operations is in memory at a time


class HasLongAbsence(Func):
    """Whether a property of a part is absent `least` times or more, and for longer than ever before, by its counters.

    PostgreSQL decides this, because parsing the counters of all parts of a large catalog takes seconds.
    """

    def __init__(self, least: int) -> None:
        path = f"strict $.* ? (@[0] >= {least} && @[0] > @[1])"
        super().__init__(
            "absences",
            template=f"jsonb_path_exists(%(expressions)s, '{path}')",
            output_field=BooleanField(),
        )


@dataclass(frozen=True)
class AbsentPlaces:
    """Part and pointer of the absent properties of one operation: no longer seen, probably gone, or absent lately."""

    no_longer_seen: set[tuple[str, str]] = field(default_factory=set)
    probably_gone: set[tuple[str, str]] = field(default_factory=set)
    lately: set[tuple[str, str]] = field(default_factory=set)

    @property
    def gone(self) -> set[tuple[str, str]]:
        return self.no_longer_seen | self.probably_gone

    def add(self, part: str, pointer: str, state: PresenceState) -> None:
        match state:
            case PresenceState.NO_LONGER_SEEN:
                self.no_longer_seen.add((part, pointer))
            case PresenceState.PROBABLY_GONE:
                self.probably_gone.add((part, pointer))
            case _:
                self.lately.add((part, pointer))


AbsentByOperation = Mapping[OperationKey, AbsentPlaces]


def load_absent(environment: Environment) -> AbsentByOperation:
    """Return the properties that are absent now, by operation; operations without any are left out."""
    absent: dict[OperationKey, AbsentPlaces] = {}
    for operation in load_with_absences(environment, visible_operations(environment), _has_absent, least=1):
        places = AbsentPlaces()
        for part, pointer, state in ComparedOperation(operation).list_absent():
            places.add(part, pointer, state)
        if places != AbsentPlaces():
            absent[operation.method, operation.key] = places
    return absent


def _has_absent(states: AbsenceStates) -> bool:
    return any(list_no_longer_seen(states)) or any(list_perhaps_absent(states))


def load_with_absences(
    environment: Environment,
    operations: QuerySet[Operation],
    is_candidate: Callable[[AbsenceStates], bool],
    *,
    least: int,
) -> Iterator[Operation]:
    """Yield the operations whose counters say that they may have absent properties, with their evidence.

    is_candidate: whether the counters of a part say that it may have such a property.
    least: how often such a property has to be absent; it is also absent for longer than ever before.
    """
    rows = OperationPart.objects.filter(HasLongAbsence(least), environment=environment, operation__in=operations)
    counters = rows.values_list("operation_id", "absences").iterator()
    row_ids = {operation for operation, states in counters if is_candidate(states)}
    for batch in split_into_batches(sorted(row_ids), OPERATIONS_AT_ONCE):
        yield from prefetch_evidence(operations.filter(pk__in=batch))
