"""The parts of one operation, in the order in which they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from affidavit import Evidence
from affidavit.operations import Part, choose_names, merge_parameter_types
from catalog.evidence.epochs import Held, NodeStart, Shown, as_maps, from_epochs, shown
from catalog.evidence.nodes import Node, list_nodes
from catalog.models import BaselineReset, Operation

QUERY = "query"  # its names are parameters: only by hand are they keys

Maps = Mapping[Part, Mapping[str, int]]
"""What is shown as maps, by part: as in Shown."""


@dataclass(frozen=True)
class PartShape:
    """A part with its evidence; `observations` is how often it could have been there. maps, fresh: as in Shown."""

    part: Part
    evidence: Evidence
    observations: int
    maps: Mapping[str, int] = field(default_factory=dict)
    fresh: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """How an address names it: `query`, `request`, or the status of a response."""
        return part_key(self.part)

    @property
    def label(self) -> str:
        return self.key.capitalize()


def part_key(part: Part) -> str:
    return str(part.status or part.name)


def shown_parts(operation: Operation) -> dict[Part, Shown]:
    """What is shown of every part of an operation, with what is shown under it."""
    together: dict[Part, list[Held]] = {}
    for row in operation.merged_rows:
        for part, held in held_parts(row).items():
            together.setdefault(part, []).append(held)
    rules = map_rules_of(operation)
    return {
        part: shown(held, maps=rules.get(part_key(part)), by_likeness=part.name != QUERY)
        for part, held in together.items()
    }


def own_evidence(operation: Operation) -> dict[Part, Evidence]:
    """What was reported under this very template and is shown, its maps not yet as maps."""
    return {part: from_epochs(*held)[0] for part, held in held_parts(operation).items()}


def held_parts(operation: Operation) -> dict[Part, Held]:
    """The evidence of this very template by part and epoch, from the fresh start on that holds."""
    rows = (row for row in operation.parts.all() if row.evidence)
    return held_of(operation, ((Part(row.part, row.status), row.epoch, row.evidence) for row in rows))


def held_of(operation: Operation, states: Iterable[tuple[Part, int, Any]]) -> dict[Part, Held]:
    """The same of evidence that is given as states, each with its part and epoch."""
    epochs: dict[Part, dict[int, Evidence]] = {}
    for part, epoch, state in states:
        if epoch >= first_epoch(operation, part_key(part)):
            epochs.setdefault(part, {})[epoch] = Evidence.from_state(state)
    return {part: Held(by_epoch, node_starts(operation, part_key(part))) for part, by_epoch in epochs.items()}


def node_starts(operation: Operation, key: str) -> list[NodeStart]:
    """The nodes of a part that were started afresh, by the starts that hold."""
    starts = (start for start in operation.baseline_resets.all() if start.is_active and start.part == key)
    return [NodeStart(start.epoch, start.pointer) for start in starts if start.epoch > operation.shown_from]


def first_start(operation: Operation, key: str) -> BaselineReset | None:
    """The fresh start from which on the whole of a part is shown: its own, or the operation's; None without any."""
    whole = (start for start in operation.baseline_resets.all() if start.is_active and not start.pointer)
    return max((start for start in whole if start.part in ("", key)), key=lambda start: start.epoch, default=None)


def first_epoch(operation: Operation, key: str) -> int:
    start = first_start(operation, key)
    return start.epoch if start else 0


def map_rules_of(operation: Operation) -> dict[str, dict[str, bool]]:
    """By part and pointer whether a place is a map, by the rules by hand that stand: the latest of each place."""
    rules: dict[str, dict[str, bool]] = {}
    for rule in operation.map_rules.all():
        if rule.reverted_at is None:
            rules.setdefault(rule.part, {}).setdefault(rule.pointer, rule.as_map)
    return rules


def mapped(
    evidence: Mapping[Part, Evidence], rules: Mapping[str, Mapping[str, bool]]
) -> tuple[dict[Part, Evidence], Maps]:
    """Every part with its maps shown as maps, and these."""
    found = {
        part: as_maps(held, rules.get(part_key(part), {}), by_likeness=part.name != QUERY)
        for part, held in evidence.items()
    }
    return {part: held for part, (held, _) in found.items()}, {part: maps for part, (_, maps) in found.items()}


def build_part_shapes(operation: Operation) -> list[PartShape]:
    """Request and query where any was seen, then a response for every status, with a body or without."""
    held = shown_parts(operation)
    asked = [Part(name) for name in ("request", QUERY) if Part(name) in held]
    answered = [Part("response", status) for status in counts_shown(operation, "")]
    return [shape_of(operation, part, held.get(part, Shown(Evidence()))) for part in asked + answered]


def shape_of(operation: Operation, part: Part, what: Shown) -> PartShape:
    counts = counts_shown(operation, part_key(part))
    successes = sum(count for status, count in counts.items() if 200 <= status < 400)
    observations = counts[part.status] if part.status else successes
    return PartShape(part, what.evidence, observations, what.maps, what.fresh)


def counts_shown(operation: Operation, key: str) -> dict[int, int]:
    """Observations by status since the fresh starts that hold for a part, of all that is shown together."""
    counts = Counter(dict(operation.status_counts))
    for row in operation.merged_rows:
        if start := first_start(row, key):
            counts.subtract({int(status): count for status, count in start.statuses.items()})
    return dict(sorted(counts.items()))


def choose_part(shapes: Sequence[PartShape], key: str) -> PartShape:
    """The part that an address names; else the first 2xx, else the first response, else the first of all."""
    responses = [shape for shape in shapes if shape.part.status]
    good = [shape for shape in responses if 200 <= shape.part.status < 300]
    named = [shape for shape in shapes if shape.key == key]
    return [*named, *good, *responses, *shapes][0]


def list_parameters(operation: Operation) -> list[tuple[str, str]]:
    """Name and type of each parameter of the path, as the catalog has them."""
    names = choose_names([Counter(counts) for counts in operation.names])
    return [(name, merge_parameter_types(types)) for name, types in zip(names, operation.types, strict=True)]


def list_part_nodes(shape: PartShape) -> Iterator[Node]:
    """Yield every node of a part, in the order of the tree."""
    return list_nodes(shape.evidence, observations=shape.observations, maps=shape.maps, resets=shape.fresh)
