"""The data of the page of one drift change: the versions around it, its field as it is now, and what people decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta

from django.db.models import QuerySet

from catalog.browse.operation.presence_counts import Presence
from catalog.browse.properties.history import find_predecessor
from catalog.browse.properties.presence_by_day import PropertyDay, list_property_days, sum_presence, sum_types
from catalog.change_added_types import list_counted_types
from catalog.change_kinds import PRESENCE_KINDS
from catalog.change_page.meaning_and_advice import is_new_status
from catalog.change_page.status_days import list_status_days
from catalog.drift.presence.absence_counters import Absence, AbsenceStates
from catalog.drift.presence.current_presence import CurrentPresence, PresenceState
from catalog.drift.presence.operation_presence import ComparedOperation, find_node_presence
from catalog.drift.presence.stored_absences import find_absence_states
from catalog.drift.queries import drift_with_operations
from catalog.evidence.nodes import Node
from catalog.evidence.observed_days import DaySpan
from catalog.evidence.parts import find_node
from catalog.models import Drift, Operation, OperationVersion
from catalog.operation_queries import find_operation
from workspaces.models import Environment

MAX_SIBLINGS = 20  # other changes of the same moment on the page
MAX_STORY = 10  # other changes of the same field on the page
DAYS_AROUND = timedelta(days=30)  # the field of a change is counted for so long before and after the change
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True)
class VersionsAround:
    """The version before a change and the one that has it.

    before: None if the change made no version.
    """

    before: OperationVersion | None
    after: OperationVersion | None


def find_drift(environment: Environment, number: int | None) -> Drift | None:
    """Return the change with this number, with its operation."""
    return drift_with_operations(environment).filter(pk=number).first() if number is not None else None


def load_versions(drift: Drift) -> VersionsAround:
    """Return the versions around the change, without their outlines."""
    rows = OperationVersion.objects.filter(environment=drift.environment_id, operation=drift.operation_id)
    versions = {row.number: row for row in rows.filter(number__in=[drift.version - 1, drift.version]).defer("outline")}
    before = None if drift.kind in PRESENCE_KINDS else versions.get(drift.version - 1)
    return VersionsAround(before, versions.get(drift.version))


@dataclass(frozen=True)
class ObservedSide:
    """The presence and the types of a field on some days."""

    days: DaySpan
    presence: Presence
    types: Mapping[str, int]


@dataclass(frozen=True)
class Predecessor:
    """The property that a new one seems to replace."""

    pointer: str
    presence: CurrentPresence

    @property
    def is_gone(self) -> bool:
        return self.presence.state in (PresenceState.PROBABLY_GONE, PresenceState.NO_LONGER_SEEN)


@dataclass(frozen=True)
class CurrentField:
    """The field of a change as it is shown now, and on the days before and after the change.

    change_day: the day of the change, with observations from before and after it; None if the change began at the
        start of a day.
    after: None if no later day was observed.
    since_detection: the presence of a new property after its detection; None for other changes, or if it is not known.
    current: whether it is sent now; None for a whole part.
    predecessor: what a new property seems to replace, if anything.

    If the change is a new status, presence is the number of calls with that status, of all calls of the operation.
    """

    node: Node
    before: ObservedSide
    change_day: ObservedSide | None
    after: ObservedSide | None
    days: Sequence[PropertyDay]
    since_detection: Presence | None = None
    current: CurrentPresence | None = None
    predecessor: Predecessor | None = None

    @property
    def absent_now(self) -> int:
        """Return in how many objects in a row it was absent, if it is still no longer seen; otherwise 0."""
        is_gone = self.current is not None and self.current.state is PresenceState.NO_LONGER_SEEN
        return self.current.absent if self.current and is_gone else 0

    @property
    def sides(self) -> Sequence[tuple[str, ObservedSide]]:
        """Return the columns of the page with their titles, without those that are None."""
        titles = {"Before": self.before, "Day of the change": self.change_day, "After": self.after}
        return [(title, side) for title, side in titles.items() if side]


def find_current_field(environment: Environment, drift: Drift, *, today: date) -> CurrentField | None:
    """Return the field; None if it is no longer shown, or is a parameter of the path."""
    operation = find_operation(environment, drift.operation.method, drift.operation.path)
    shape, node = find_node(operation, drift.part, drift.pointer) if operation else (None, None)
    if operation is None or shape is None or node is None:
        return None
    first = find_first_day(drift)
    first_before = max(first - DAYS_AROUND, _find_first_observed(operation, first))
    last = min(first + DAYS_AROUND, today)
    span = DaySpan(first_before, last)
    if is_new_status(drift):
        days = list(list_status_days(operation, int(drift.part), span))
        first = next((row.day for row in days if row.presence.seen), first)
    else:
        days = list(list_property_days(operation, shape, node, span))
        first = _find_day_of_new_type(days, drift, first)
    before = _sum_side(days, node, DaySpan(min(first_before, first - ONE_DAY), first - ONE_DAY))
    begins_with_day = drift.last_day is not None and drift.last_day < first
    change_day = None if begins_with_day else _sum_side(days, node, DaySpan(first, first))
    first_after = first if begins_with_day else first + ONE_DAY
    is_observed = any(row.day >= first_after for row in days)
    after = _sum_side(days, node, DaySpan(first_after, last)) if is_observed else None
    since_detection = _count_since_detection(drift, node, find_absence_states(operation, shape.part))
    current = find_node_presence(operation, shape, node.pointer) if drift.pointer else None
    predecessor = _find_predecessor(operation, drift, node) if drift.kind == "new" and not node.is_nameless else None
    return CurrentField(node, before, change_day, after, days, since_detection, current, predecessor)


def _find_predecessor(operation: Operation, drift: Drift, node: Node) -> Predecessor | None:
    """Return the property that a new one seems to replace, as drift reported it, or else one that is probably gone."""
    compared = ComparedOperation(operation)
    pointer = find_predecessor(drift.operation, drift.part, drift.pointer, node.name)
    pointer = pointer or compared.find_predecessor(drift.part, drift.pointer)
    return Predecessor(pointer, compared.find_presence(drift.part, pointer)) if pointer else None


def _count_since_detection(drift: Drift, node: Node, states: AbsenceStates) -> Presence | None:
    """Return the presence of a new property after the fold in which it was first seen, or None if unknown."""
    absence = Absence.from_state(states.get(node.pointer, ()))
    if drift.kind != "new" or node.is_reset or node.parents is None or absence.first_seen != drift.seen:
        return None
    seen, objects = node.seen - absence.first_seen, node.parents - absence.first_objects
    return Presence(seen, objects) if 0 <= seen <= objects and objects else None


def count_new_type_since(drift: Drift, node: Node) -> Presence | None:
    """Return how many values had the new type since it was detected, and of how many; None if that is not known."""
    names = list_counted_types(drift.before, drift.after)
    if drift.values is None or drift.matching is None or node.is_reset or not all(name in node.types for name in names):
        return None
    values = sum(node.types.values()) - drift.values
    matching = sum(node.types[name] for name in names) - drift.matching
    return Presence(matching, values) if 0 <= matching <= values and values else None


def _find_first_observed(operation: Operation, first: date) -> date:
    """Return the day of the operation's first observation, at the latest the day before `first` (the change)."""
    return min(operation.first_seen_at.astimezone(UTC).date(), first - ONE_DAY)


def _sum_side(days: Sequence[PropertyDay], node: Node, span: DaySpan) -> ObservedSide:
    rows = [row for row in days if span.first <= row.day <= span.last]
    return ObservedSide(span, sum_presence(rows, node), sum_types(rows))


def _find_day_of_new_type(days: Sequence[PropertyDay], drift: Drift, first: date) -> date:
    """Return the first day on which a value had the new type; `first` if the type did not change, or no day has it.

    A report of several days is dated at its beginning, when the new type may not have been sent yet.
    """
    names = set(list_counted_types(drift.before, drift.after)) if drift.kind == "type" else set()
    holds_type = (row.day for row in days if row.day >= first and names & {*row.types, *row.type.split()[:1]})
    return next(holds_type, first)


def find_first_day(drift: Drift) -> date:
    """Return the first UTC day on which the change was observed.

    For a property that is no longer seen, this is the day after its last day, at the latest the day of the detection.
    """
    if drift.last_day is None:
        return drift.since.astimezone(UTC).date()
    return min(drift.last_day + ONE_DAY, drift.at.astimezone(UTC).date())


def find_simultaneous_changes(drift: Drift) -> QuerySet[Drift]:
    """Return the other changes that were found at the same moment in the same operation, in the order of the fold."""
    rows: QuerySet[Drift] = Drift.objects.filter(
        environment=drift.environment_id, operation=drift.operation_id, at=drift.at
    )
    return rows.exclude(pk=drift.pk).order_by("id")


def find_story(drift: Drift) -> QuerySet[Drift]:
    """Return the other changes of the same field, the latest first."""
    rows: QuerySet[Drift] = Drift.objects.filter(
        environment=drift.environment_id, operation=drift.operation_id, part=drift.part, pointer=drift.pointer
    )
    return rows.exclude(pk=drift.pk).order_by("-id")
