"""The parts of one operation: its query, its request and its responses, from the rows that hold their evidence.

Each row holds the evidence of one epoch. An operation begins in epoch 0, and every baseline reset begins the next one.
Late evidence was reported in a later epoch than that in which it was observed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from affidavit import Evidence
from affidavit.operations import REQUEST, Part, choose_names, merge_parameter_types, part_key
from catalog.evidence.active_map_rules import QUERY, load_map_rules
from catalog.evidence.active_resets import find_part_reset, first_visible_epoch, list_node_resets
from catalog.evidence.epoch_sums import EpochEvidence, VisiblePart, build_visible_part
from catalog.evidence.nodes import Node, list_nodes
from catalog.evidence.outlines import are_forms
from catalog.evidence.tree import EvidenceNode, find_child
from catalog.models import Operation, OperationPart
from catalog.shape_pointers import ITEMS, VALUES, split_pointer


@dataclass(frozen=True)
class PartShape:
    """One visible part of an operation.

    observations: how often it could have been present.
    maps, reset_counts: as in VisiblePart.
    has_fields: whether it is a query, or a request that was sent as a form and never as JSON.
    """

    part: Part
    evidence: Evidence
    observations: int
    maps: Mapping[str, int] = field(default_factory=dict)
    reset_counts: Mapping[str, int | None] = field(default_factory=dict)
    has_fields: bool = False

    @property
    def key(self) -> str:
        return part_key(self.part)

    @property
    def label(self) -> str:
        return self.key.capitalize()


def part_of(row: OperationPart) -> Part:
    return Part(row.part, row.status)


def build_part_shapes(operation: Operation) -> list[PartShape]:
    """Return the request and the query, each if it was seen, then a response for every status, even without a body."""
    visible = _build_visible_parts(operation)
    with_type = {Part(REQUEST)} if REQUEST in operation.media_types else set()
    requests = [part for part in (Part(REQUEST), Part(QUERY)) if part in visible or part in with_type]
    responses = [Part("response", status) for status in count_statuses(operation, "")]
    empty = VisiblePart(Evidence())
    return [_build_shape(operation, part, visible.get(part, empty)) for part in requests + responses]


def list_part_nodes(shape: PartShape) -> Iterator[Node]:
    """Yield every node of a part, in the order of the tree."""
    return list_nodes(
        shape.evidence,
        observations=shape.observations,
        maps=shape.maps,
        resets=shape.reset_counts,
        has_fields=shape.has_fields,
    )


def find_observed_node(shape: PartShape, pointer: str) -> EvidenceNode | None:
    """Return the evidence of a part's root or of one of its nodes; None if no such node was observed."""
    node: Evidence | None = shape.evidence
    parents: int | None = shape.observations
    for step in split_pointer(pointer):
        if node is None:
            return None
        parents = None if step in (ITEMS, VALUES) else node.counts.get("object", 0)
        node = find_child(node, step)
    if node is None or (pointer and not node.seen):
        return None
    since_reset = shape.reset_counts.get(pointer)
    return EvidenceNode(node, parents if since_reset is None else since_reset)


def find_node(operation: Operation, key: str, pointer: str) -> tuple[PartShape | None, Node | None]:
    """Return a part and a node in it, each None if the operation has none."""
    shape = next((shape for shape in build_part_shapes(operation) if shape.key == key), None)
    nodes = list_part_nodes(shape) if shape else ()
    return shape, next((node for node in nodes if node.pointer == pointer), None)


def list_parameters(operation: Operation) -> list[tuple[str, str]]:
    """Return name and type of each parameter of the path, as the catalog shows them."""
    names = choose_names([Counter(counts) for counts in operation.names])
    return [(name, merge_parameter_types(types)) for name, types in zip(names, operation.types, strict=True)]


def load_epochs(operation: Operation) -> dict[Part, dict[int, Evidence]]:
    """Return the evidence that was reported under this operation's own template, from the epochs that are shown."""
    rows = [row for row in operation.parts.all() if row.evidence]
    return parse_epochs(operation, ((part_of(row), row.epoch, row.evidence) for row in rows))


def parse_epochs(operation: Operation, states: Iterable[tuple[Part, int, Any]]) -> dict[Part, dict[int, Evidence]]:
    """Return the sum of evidence by part and epoch, without the epochs before a baseline reset of the part."""
    epochs: dict[Part, dict[int, Evidence]] = {}
    for part, epoch, state in states:
        if epoch >= first_visible_epoch(operation, part_key(part)):
            evidence, by_epoch = Evidence.from_state(state), epochs.setdefault(part, {})
            if epoch in by_epoch:
                by_epoch[epoch].add(evidence)
            else:
                by_epoch[epoch] = evidence
    return epochs


def _build_visible_parts(operation: Operation) -> dict[Part, VisiblePart]:
    evidence_by_part: dict[Part, list[EpochEvidence]] = {}
    for row in operation.merged_rows:
        for part, epochs in load_epochs(row).items():
            resets = list_node_resets(row, part_key(part))
            evidence_by_part.setdefault(part, []).append(EpochEvidence(epochs, resets))
    rules = load_map_rules(operation)
    return {
        part: build_visible_part(evidence, map_rules=rules.get(part_key(part)), by_likeness=part.name != QUERY)
        for part, evidence in evidence_by_part.items()
    }


def _build_shape(operation: Operation, part: Part, visible: VisiblePart) -> PartShape:
    counts = count_statuses(operation, part_key(part))
    successes = sum(count for status, count in counts.items() if 200 <= status < 400)
    observations = counts[part.status] if part.status else successes
    has_fields = part.name == QUERY or (part.name == REQUEST and are_forms(operation.media_types.get(REQUEST, ())))
    return PartShape(part, visible.evidence, observations, visible.maps, visible.reset_counts, has_fields)


def count_statuses(operation: Operation, key: str) -> Counter[int]:
    """Return the observations by status, without those before the latest active reset of the part.

    Operations that are shown under this one are included.
    """
    counts = Counter(dict(operation.status_counts))
    for row in operation.merged_rows:
        if reset := find_part_reset(row, key):
            counts.subtract({int(status): count for status, count in reset.statuses.items()})
    return Counter(dict(sorted(counts.items())))
