"""The result of one fold for a visible operation, from which drift, versions and absences are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from affidavit import Evidence
from affidavit.operations import OperationSum, Part, part_key
from catalog.drift.compare_outlines import Change
from catalog.drift.presence.absence_counters import AbsenceEvent, AbsenceStates, update_absences
from catalog.drift.presence.stored_absences import find_absence_states
from catalog.evidence.active_map_rules import PartMaps
from catalog.evidence.active_resets import first_visible_epoch
from catalog.evidence.maps import merge_map_values
from catalog.evidence.parts import part_of
from catalog.evidence.tree import EvidenceNode, walk_nodes
from catalog.models import Operation


@dataclass
class FoldResult:
    """One visible operation after a fold.

    row: the operation with its new projection; its related rows are still those from before the fold.
    previous_version, previous_digest: the version and the digest of its outline before the fold.
    total: all visible evidence, with maps applied.
    maps: which objects are shown as maps.
    new_sum: the evidence that this fold added, before maps are applied.
    late: the visible part of the late evidence, which was observed before a baseline reset and reported after it. It is
        part of `total`, but not of `new_sum`.
    """

    row: Operation
    previous_version: int
    previous_digest: bytes
    total: OperationSum
    maps: PartMaps
    new_sum: OperationSum
    late: Mapping[Part, Evidence] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Return whether it had a version before: a first outline is not a change."""
        return self.previous_version > 0

    @property
    def is_new_version(self) -> bool:
        return self.row.begun and not (self.is_known and self.previous_digest == self.row.outline_digest)

    def is_first(self, change: Change) -> bool:
        """Return whether a change only shows the first data after a baseline reset."""
        is_reset = (change.part, change.pointer) in self._reset_nodes
        return change.part in self._reset_parts or (is_reset and change.is_of_nothing)

    @cached_property
    def absences(self) -> dict[Part, tuple[AbsenceStates, list[AbsenceEvent]]]:
        """Return the new absence counters and the events to report, by part with added evidence."""
        return {
            part: update_absences(
                find_absence_states(self.row, part),
                self.total.evidence[part],
                self._with_maps(part, self.new_sum.evidence[part]),
                observed_from=self.new_sum.first,
            )
            for part in self.new_sum.evidence
        }

    @cached_property
    def added_nodes(self) -> dict[tuple[str, str], EvidenceNode]:
        """Return the nodes of the added and late evidence, by part and pointer."""
        nodes: dict[tuple[str, str], EvidenceNode] = {}
        for part in {**self.new_sum.evidence, **self.late}:
            evidence = Evidence()
            for parts in (self.new_sum.evidence, self.late):
                evidence.add(parts.get(part, Evidence()))
            observations = self._count_added(part)
            for pointer, node in walk_nodes(self._with_maps(part, evidence), observations=observations):
                nodes[part_key(part), pointer] = node
        return nodes

    @cached_property
    def total_nodes(self) -> dict[tuple[str, str], EvidenceNode]:
        """Return the nodes of all visible evidence, by part and pointer."""
        return {
            (part_key(part), pointer): node
            for part, evidence in self.total.evidence.items()
            for pointer, node in walk_nodes(evidence, observations=None)
        }

    @cached_property
    def _reset_parts(self) -> set[str]:
        """Return the parts whose evidence was all from before a baseline reset: their first outline is not a change."""
        rows = [(operation, row) for operation in self.row.merged_rows for row in operation.parts.all() if row.evidence]
        keys = {part_key(part_of(row)) for _, row in rows}
        return keys - {
            part_key(part_of(row))
            for operation, row in rows
            if row.epoch >= first_visible_epoch(operation, part_key(part_of(row)))
        }

    @cached_property
    def _reset_nodes(self) -> set[tuple[str, str]]:
        """Return part and pointer of the reset nodes: the first type of such a node is not a change."""
        resets = (reset for operation in self.row.merged_rows for reset in operation.baseline_resets.all())
        return {(reset.part, reset.pointer) for reset in resets if reset.is_active}

    def _with_maps(self, part: Part, evidence: Evidence) -> Evidence:
        maps = self.maps.get(part, {})
        return merge_map_values(evidence, lambda pointer, _: pointer in maps) if maps else evidence

    def _count_added(self, part: Part) -> int:
        """Return how often a part could have been present in the added observations."""
        if part.status:
            return self.new_sum.statuses[part.status]
        return sum(count for status, count in self.new_sum.statuses.items() if 200 <= status < 400)
