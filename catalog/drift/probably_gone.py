"""The properties of an environment that are probably gone, which pages show before drift reports them.

The rule is `catalog.drift.presence.probably_gone_rule.is_probably_gone`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from catalog.drift.presence.absent_places import find_probably_gone_of
from catalog.drift.presence.operation_presence import ProbablyGone
from catalog.drift.queries import list_broken_fields, list_open_drift
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


def list_unreported(environment: Environment, period: Period) -> list[ProbablyGone]:
    """Return the properties that are probably gone, without those that have open breaking drift in the period."""
    gone_properties = list_probably_gone(environment, period=period)
    if not gone_properties:
        return []
    drift = list_open_drift(environment, period).filter(operation__in={item.operation.pk for item in gone_properties})
    broken = set(list_broken_fields(drift))
    return [item for item in gone_properties if (item.operation.pk, item.part, item.pointer) not in broken]


def _find_probably_gone(
    environment: Environment, operations: Collection[Operation] | None, period: Period | None
) -> Iterator[ProbablyGone]:
    rows = visible_operations(environment)
    if operations is not None:
        rows = rows.filter(pk__in=[operation.pk for operation in operations])
    if period:
        rows = rows.filter(last_seen_at__gte=period.start)
    return find_probably_gone_of(environment, rows)
