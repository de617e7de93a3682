"""Which properties of an operation are sent now, what replaces the others, and what drift last said of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from catalog.change_kinds import NOT_ALWAYS, PRESENCE_KINDS
from catalog.drift.presence.absence_counters import Absence, AbsenceStates, find_new_names
from catalog.drift.presence.current_presence import (
    CurrentPresence,
    PresenceState,
    find_current_presence,
    find_probably_gone,
    list_no_longer_seen,
    list_perhaps_absent,
    list_perhaps_gone,
)
from catalog.drift.presence.stored_absences import find_absence_states
from catalog.evidence.nodes import Node
from catalog.evidence.parts import PartShape, build_part_shapes, count_statuses, find_observed_node, list_part_nodes
from catalog.evidence.unobserved_resets import find_unobserved_node_reset, find_unobserved_reset
from catalog.models import BaselineReset, Drift, Operation
from catalog.operation_queries import prefetch_evidence, visible_operations
from catalog.shape_pointers import is_within, join_property, parent_pointer, property_name
from workspaces.models import Environment

OperationKey = tuple[str, str]
"""Method and template with nameless parameters: the same operation in every environment."""


LatestPresences = Mapping[tuple[str, str], tuple[int, int]]
"""By part and pointer, `seen` and `of` of each property's latest change of presence; 0 and 0 unless NOT_ALWAYS."""

DetectionTimes = Mapping[tuple[str, str], datetime]
"""By part and pointer, when each new property was detected."""


@dataclass(frozen=True)
class ProbablyGone:
    """A property that is probably gone.

    successor: the pointer of the property that seems to replace it; "" for none.
    """

    operation: Operation
    part: str
    pointer: str
    presence: CurrentPresence
    successor: str


class ComparedOperation:
    """One operation with its evidence, which is computed when it is first asked for."""

    def __init__(
        self,
        operation: Operation,
        latest: LatestPresences | None = None,
        detected: DetectionTimes | None = None,
    ) -> None:
        self.operation = operation
        self._latest = latest or {}
        self._detected = detected or {}
        self._nodes: dict[str, Mapping[str, Node]] = {}

    def find_presence(self, key: str, pointer: str) -> CurrentPresence:
        """Return the presence of a node; without a pointer, of the whole part; without a key, of the operation."""
        if not key:
            return CurrentPresence(PresenceState.SEEN, self.operation.observations, None)
        shape = self._shapes.get(key)
        if not pointer:
            return self._find_part_presence(key, shape)
        nodes = self._find_nodes(shape) if shape else {}
        if shape is None or pointer not in nodes:
            parent = nodes.get(parent_pointer(pointer))
            return CurrentPresence(PresenceState.NEVER_SEEN, 0, parent.objects if parent else 0)
        presence = find_current_presence(find_absence_states(self.operation, shape.part), nodes, pointer)
        latest_seen, latest_of = self._latest.get((key, pointer), (0, 0))
        return replace(presence, latest_seen=latest_seen, latest_of=latest_of)

    def find_unobserved_reset(self, key: str = "", pointer: str = "") -> BaselineReset | None:
        """Return the baseline reset since which this node could not have been observed; None if there is none."""
        reset = find_unobserved_reset(self.operation, key)
        if reset is None and pointer and key in self._shapes:
            return find_unobserved_node_reset(self.operation, key, self._find_nodes(self._shapes[key]), pointer)
        return reset

    def find_detection(self, key: str, pointer: str) -> datetime | None:
        """Return when this node, or one around it, was detected as new; None if it came with the first observations."""
        times = [
            detection_time
            for (part, outer_pointer), detection_time in self._detected.items()
            if part == key and is_within(pointer, outer_pointer)
        ]
        return max(times, default=None)

    def list_not_always_sent(self) -> set[tuple[str, str]]:
        """Return part and pointer of each property whose latest change of presence says that it is not always sent."""
        return {(part, pointer) for (part, pointer), (_, of) in self._latest.items() if of}

    def list_absent(self) -> Iterator[tuple[str, str, PresenceState]]:
        """Yield part, pointer and state of each property that is absent now, without the properties inside it."""
        for shape in self._shapes.values():
            states = find_absence_states(self.operation, shape.part)
            yield from ((shape.key, pointer, PresenceState.NO_LONGER_SEEN) for pointer in list_no_longer_seen(states))
            if any(list_perhaps_absent(states)):
                nodes = self._find_nodes(shape)
                probably_gone = find_probably_gone(states, nodes)
                yield from ((shape.key, pointer, PresenceState.PROBABLY_GONE) for pointer in probably_gone)
                for pointer in list_perhaps_absent(states):
                    if pointer in nodes and find_current_presence(states, nodes, pointer).is_uncertain:
                        yield shape.key, pointer, PresenceState.ABSENT_LATELY

    def list_probably_gone(self) -> Iterator[ProbablyGone]:
        if not any(any(list_perhaps_gone(row.absences)) for row in self.operation.parts.all()):
            return  # so that evidence is not summed for nothing
        for shape in self._shapes.values():
            states = find_absence_states(self.operation, shape.part)
            if any(list_perhaps_gone(states)):
                presences = find_probably_gone(states, self._find_nodes(shape))
                successors = _find_successors(states, shape, presences)
                for pointer, presence in presences.items():
                    yield ProbablyGone(self.operation, shape.key, pointer, presence, successors.get(pointer, ""))

    def find_predecessor(self, key: str, pointer: str) -> str:
        """Return the pointer of the property that is probably gone and that this one seems to replace; "" for none."""
        properties = (item for item in self.list_probably_gone() if (item.part, item.successor) == (key, pointer))
        return next((item.pointer for item in properties), "")

    def find_successor(self, key: str, pointer: str) -> str:
        """Return the pointer of what seems to replace this property, which is probably gone; "" for none."""
        properties = (item for item in self.list_probably_gone() if (item.part, item.pointer) == (key, pointer))
        return next((item.successor for item in properties), "")

    @cached_property
    def _shapes(self) -> Mapping[str, PartShape]:
        return {shape.key: shape for shape in build_part_shapes(self.operation)}

    def _find_nodes(self, shape: PartShape) -> Mapping[str, Node]:
        if shape.key not in self._nodes:
            self._nodes[shape.key] = {node.pointer: node for node in list_part_nodes(shape)}
        return self._nodes[shape.key]

    def _find_part_presence(self, key: str, shape: PartShape | None) -> CurrentPresence:
        """Return how often a status was answered, or a request had a body or a query."""
        counts = count_statuses(self.operation, key)
        if key.isdigit():
            seen, of = (shape.observations if shape else 0), counts.total()
        else:
            seen = shape.evidence.seen if shape else 0
            of = sum(count for status, count in counts.items() if 200 <= status < 400)
        state = PresenceState.SEEN if seen else PresenceState.NEVER_SEEN
        return CurrentPresence(state, seen, of, is_always_sent=key.isdigit() or seen >= of)


def _find_successors(states: AbsenceStates, shape: PartShape, pointers: Collection[str]) -> dict[str, str]:
    """Return the pointers of the properties that seem to replace these absent ones, by the absent pointers."""
    absences = {pointer: Absence.from_state(state) for pointer, state in states.items()}
    by_object: dict[str, list[str]] = {}
    for pointer in pointers:
        by_object.setdefault(parent_pointer(pointer), []).append(pointer)
    successors: dict[str, str] = {}
    for outer, properties in by_object.items():
        names = [property_name(pointer.rpartition("/")[2]) for pointer in properties]
        node = find_observed_node(shape, outer)
        new_names = find_new_names(absences, node.evidence, outer, names) if node else {}
        successors |= {pointer: join_property(outer, name) for pointer, name in new_names.items()}
    return successors


def find_node_presence(operation: Operation, shape: PartShape, pointer: str) -> CurrentPresence:
    """Return the presence of a node of a part of an operation."""
    nodes = {node.pointer: node for node in list_part_nodes(shape)}
    return find_current_presence(find_absence_states(operation, shape.part), nodes, pointer)


def load_compared_operations(
    environment: Environment, keys: Collection[OperationKey]
) -> dict[OperationKey, ComparedOperation]:
    """Return these operations with their evidence; those that the environment does not have are left out."""
    operations = visible_operations(environment).filter(
        method__in={method for method, _ in keys}, key__in={key for _, key in keys}
    )
    rows = [row for row in prefetch_evidence(operations) if (row.method, row.key) in keys] if keys else []
    latest, detected = _load_latest_presences(environment, rows), _load_detection_times(environment, rows)
    return {(row.method, row.key): ComparedOperation(row, latest.get(row.pk), detected.get(row.pk)) for row in rows}


def _load_detection_times(
    environment: Environment, operations: Collection[Operation]
) -> dict[int, dict[tuple[str, str], datetime]]:
    """Return when each new node of these operations was detected; the last time, if it was detected several times."""
    times: dict[int, dict[tuple[str, str], datetime]] = {}
    changes = Drift.objects.filter(environment=environment, operation__in=operations, kind="new").order_by("pk")
    columns = ("operation_id", "part", "pointer", "at")
    for operation, part, pointer, detection_time in changes.values_list(*columns).iterator():
        times.setdefault(operation, {})[part, pointer] = detection_time
    return times


def _load_latest_presences(
    environment: Environment, operations: Collection[Operation]
) -> dict[int, dict[tuple[str, str], tuple[int, int]]]:
    """Return `seen` and `of` of each property's latest change of presence; 0 and 0 unless it is "not always sent"."""
    latest: dict[int, dict[tuple[str, str], tuple[int, int]]] = {}
    changes = Drift.objects.filter(environment=environment, operation__in=operations, kind__in=PRESENCE_KINDS)
    columns = ("operation_id", "part", "pointer", "kind", "seen", "of")
    for operation, part, pointer, kind, seen, of in changes.order_by("pk").values_list(*columns).iterator():
        counts = (seen, of) if kind == NOT_ALWAYS else (0, 0)
        latest.setdefault(operation, {})[part, pointer] = counts
    return latest


def find_not_always_sent(environment: Environment) -> set[OperationKey]:
    """Return the operations for which drift ever reported a property that is not always sent."""
    changes = Drift.objects.filter(environment=environment, kind=NOT_ALWAYS)
    return set(changes.values_list("operation__method", "operation__key").distinct())
