"""The page of one property of an operation: its history, its presence by day, and where else its name occurs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from catalog.browse.operation.presence_counts import Presence
from catalog.browse.operation.views import require_operation
from catalog.browse.properties.chart import draw_presence, draw_types
from catalog.browse.properties.history import find_predecessor, find_successor, list_property_drift
from catalog.browse.properties.presence_by_day import (
    DAY_COLUMNS,
    PropertyDay,
    group_equal_days,
    list_day_cells,
    list_property_days,
    sum_presence,
    sum_types,
)
from catalog.browse.properties.same_name import find_namesakes
from catalog.browse.properties.unknown_property import explain_unknown_property
from catalog.drift.exports import CHANGE_COLUMNS, list_change_cells
from catalog.drift.presence.current_presence import CurrentPresence
from catalog.drift.presence.operation_presence import ComparedOperation, find_node_presence
from catalog.evidence.active_resets import find_node_reset
from catalog.evidence.nodes import Node
from catalog.evidence.observed_days import DaySpan, find_days
from catalog.evidence.parts import PartShape, find_node
from catalog.models import BaselineReset, Drift, Operation
from wire.address_members import read_text
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.annotations.exports import build_annotations_table
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page

HISTORY_COLUMNS = ("id", "at", "since", "version", *CHANGE_COLUMNS, "seen", "of", "matching", "values")
PRESENCE_COLUMNS = ("state", "seen", "of", "absent")
MAX_RUNS = 100  # runs of equal days on the page
MAX_CHANGES = 50  # on the page


def show_property(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the page of one property.

    Raises NotFound if the operation has no such property, and no change ever concerned it.
    """
    operation = require_operation(request, environment)
    key, pointer = read_text(request.GET, "part"), read_text(request.GET, "at")
    shape, node = find_node(operation, key, pointer)
    drift = list_property_drift(operation, key, pointer)
    if node is None and not drift:
        raise explain_unknown_property(environment, operation, key, pointer)
    days, reset = find_days(period), find_node_reset(operation, key, pointer)

    def build_context() -> Mapping[str, Any]:
        return {
            "operation": operation,
            "part": key,
            "pointer": pointer,
            "chart_field": (operation.pk, key, pointer),
            "node": node,
            "changes": drift[:MAX_CHANGES],
            "reset": reset,
            "may_act": has_role(request.user, environment.workspace, Membership.EDITOR),
            "mixed_day": reset.at.astimezone(UTC).date() if reset and reset.pointer else None,
            "more_changes": max(len(drift) - MAX_CHANGES, 0),
            "successor": find_successor(drift, pointer),
            **_describe_node(environment, operation, shape, node, days),
        }

    tables = [
        Table("history", HISTORY_COLUMNS, lambda: map(_drift_row, drift)),
        Table("presence", PRESENCE_COLUMNS, lambda: _presence_rows(operation, shape, node)),
        Table("days", DAY_COLUMNS, lambda: map(list_day_cells, _list_days(operation, shape, node, days))),
        build_annotations_table(environment, period),
    ]
    return Page("catalog/property.html", build_context, tables)


def _describe_node(
    environment: Environment, operation: Operation, shape: PartShape | None, node: Node | None, days: DaySpan | None
) -> Mapping[str, Any]:
    """Return the facts about a property that is in the shape now."""
    if shape is None or node is None:
        return {
            "namesakes": None,
            "day_runs": [],
            "current": None,
            "predecessor": "",
            "presence": None,
            "is_new": False,
        }
    rows, today = list(_list_days(operation, shape, node, days))[::-1], timezone.now().date()
    runs = group_equal_days(rows, node, today=today)
    name = "" if node.is_nameless else node.name
    current = find_node_presence(operation, shape, node.pointer)
    is_of_types = _are_types_what_varies(rows)
    return {
        "namesakes": find_namesakes(environment, operation, shape.key, node.pointer, name) if name else None,
        **_describe_replacement(operation, shape, node.pointer, current, name),
        "day_runs": runs[:MAX_RUNS],
        "more_days": sum(run.days for run in runs[MAX_RUNS:]),
        "is_of_types": is_of_types,
        "figure": draw_types(rows[::-1], today=today) if is_of_types else draw_presence(rows[::-1], node, today=today),
        "today": today,
        "current": current,
        "presence": sum_presence(rows, node) if days and not node.is_reset else Presence(node.seen, node.parents),
        "is_of_period": days is not None and not node.is_reset,
        "is_new": bool(current.before_first and node.first_day and (days is None or node.first_day >= days.first)),
    }


def _describe_replacement(
    operation: Operation, shape: PartShape, pointer: str, current: CurrentPresence, name: str
) -> Mapping[str, Any]:
    """Return what a property seems to replace and, if it is probably gone, what seems to replace it."""
    compared = ComparedOperation(operation)
    if current.is_probably_gone:
        return {"predecessor": "", "successor": compared.find_successor(shape.key, pointer)}
    predecessor = find_predecessor(operation, shape.key, pointer, name) if name else ""
    return {"predecessor": predecessor or compared.find_predecessor(shape.key, pointer)}


def _are_types_what_varies(days: Sequence[PropertyDay]) -> bool:
    """Return whether the types of a property say more than its presence: there are several, or one and null.

    Null counts only if the property was always present, because otherwise presence varies, too.
    """
    is_always_present = all(day.presence.seen == day.presence.parents for day in days)
    return len({kind for day in days for kind in day.types}) > 1 or (is_always_present and len(sum_types(days)) > 1)


def _list_days(
    operation: Operation, shape: PartShape | None, node: Node | None, days: DaySpan | None
) -> Iterator[PropertyDay]:
    if shape is None or node is None:
        return iter(())
    observed = DaySpan(
        *(seen_at.astimezone(UTC).date() for seen_at in (operation.first_seen_at, operation.last_seen_at))
    )
    rows = list_property_days(operation, shape, node, days or observed)
    reset = find_node_reset(operation, shape.key, node.pointer)
    return (row for row in rows if reset is None or _is_counted(row, reset))


def _is_counted(row: PropertyDay, reset: BaselineReset) -> bool:
    """Return whether a day has counts, all of which are from after a reset.

    On the day of the reset itself, this is so only if a whole part or operation was reset: the reset of a node does not
    separate the counts after it from those before it.
    """
    reset_day = reset.at.astimezone(UTC).date()
    is_separate = not reset.pointer and bool(row.presence.seen or row.presence.parents)
    return row.day > reset_day or (row.day == reset_day and is_separate)


def _presence_rows(operation: Operation, shape: PartShape | None, node: Node | None) -> Iterator[Sequence[Any]]:
    if shape is not None and node is not None:
        current = find_node_presence(operation, shape, node.pointer)
        yield (current.state, current.seen, current.of, current.absent)


def _drift_row(drift: Drift) -> Sequence[Any]:
    counts = (drift.seen, drift.of, drift.matching, drift.values)
    return (drift.pk, drift.at, drift.since, drift.version, *list_change_cells(drift), *counts)
