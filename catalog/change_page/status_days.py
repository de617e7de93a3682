"""How often an operation answered with one status on each day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from catalog.browse.operation.presence_counts import Presence
from catalog.browse.properties.presence_by_day import PropertyDay
from catalog.evidence.observed_days import DaySpan, ObservedDays, load_days
from catalog.models import Operation, OperationDay


def list_status_days(operation: Operation, status: int, span: DaySpan) -> Iterator[PropertyDay]:
    """Yield the days of a span on which the operation was observed, the earliest first.

    The presence of a day is the number of calls with this status, of all calls of the day.
    """
    by_day: dict[date, dict[int, list[OperationDay]]] = {}
    for number, rows in load_days(operation, span).rows.items():
        for row in rows:
            by_day.setdefault(row.day, {}).setdefault(number, []).append(row)
    for day, rows_of_day in sorted(by_day.items()):
        counts = ObservedDays(operation, rows_of_day).status_counts
        yield PropertyDay(day, Presence(counts.get(status, 0), sum(counts.values())), "", {}, 0)
