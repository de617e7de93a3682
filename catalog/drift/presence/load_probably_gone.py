"""Load the properties of an environment that are probably gone, which pages show before drift reports them.

The rule is `catalog.drift.presence.probably_gone_rule.is_probably_gone`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.db.models import QuerySet

from catalog.drift.presence.absence_counters import AbsenceStates
from catalog.drift.presence.current_presence import list_perhaps_gone
from catalog.drift.presence.load_absent import load_with_absences
from catalog.drift.presence.operation_presence import ComparedOperation, ProbablyGone
from catalog.drift.presence.probably_gone_rule import LEAST
from catalog.models import Operation
from catalog.operation_queries import visible_operations
from wire.time.period import Period
from workspaces.models import Environment


def list_probably_gone(
    environment: Environment, operations: Collection[Operation] | None = None, *, period: Period | None = None
) -> list[ProbablyGone]:
    """Return the properties that are probably gone, sorted by path, method, part and pointer.

    operations: None for all that are visible.
    period: if it is given, only properties of operations that were observed since its start. If it is over, none,
        because presence is about now.
    """
    if period and not period.is_current:
        return []
    gone_properties = _find_probably_gone(environment, operations, period)
    return sorted(
        gone_properties, key=lambda item: (item.operation.path, item.operation.method, item.part, item.pointer)
    )


def _find_probably_gone(
    environment: Environment, operations: Collection[Operation] | None, period: Period | None
) -> Iterator[ProbablyGone]:
    rows = visible_operations(environment)
    if operations is not None:
        rows = rows.filter(pk__in=[operation.pk for operation in operations])
    if period:
        rows = rows.filter(last_seen_at__gte=period.start)
    return find_probably_gone_of(environment, rows)


def find_probably_gone_of(environment: Environment, operations: QuerySet[Operation]) -> Iterator[ProbablyGone]:
    """Yield the properties of these operations that are probably gone.

    operations: visible ones of the environment.
    """

    def is_candidate(states: AbsenceStates) -> bool:
        return any(list_perhaps_gone(states))

    for operation in load_with_absences(environment, operations, is_candidate, least=LEAST):
        yield from ComparedOperation(operation).list_probably_gone()
