"""The parts of one operation, in the order in which they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from affidavit import Evidence
from affidavit.operations import Part, parameter_type, shown_names
from catalog.models import Operation


@dataclass(frozen=True)
class Shape:
    """A part with its evidence; `observations` is how often it could have been there."""

    part: Part
    evidence: Evidence
    observations: int

    @property
    def key(self) -> str:
        """How an address names it: `query`, `request`, or the status of a response."""
        return str(self.part.status or self.part.name)

    @property
    def label(self) -> str:
        return self.key.capitalize()


def shown_evidence(operation: Operation) -> dict[Part, Evidence]:
    """The evidence of every part, summed over the epochs that are shown."""
    held: dict[Part, Evidence] = {}
    for row in operation.parts.all():
        if row.epoch >= operation.shown_from:
            held.setdefault(Part(row.part, row.status), Evidence()).add(Evidence.from_state(row.evidence))
    return held


def shapes_of(operation: Operation) -> list[Shape]:
    """Request and query where any was seen, then a response for every status, with a body or without."""
    held = shown_evidence(operation)
    counts = counts_shown(operation)
    successes = sum(count for status, count in counts.items() if 200 <= status < 400)
    asked = [Shape(part, held[part], successes) for part in (Part("request"), Part("query")) if part in held]
    answered = [
        Shape(part, held.get(part, Evidence()), count)
        for status, count in counts.items()
        if (part := Part("response", status))
    ]
    return asked + answered


def counts_shown(operation: Operation) -> dict[int, int]:
    """Observations by status since the fresh start that holds, if there is one."""
    before = next((start.statuses for start in operation.fresh_starts.all() if not start.taken_back_at), {})
    return {status: count - before.get(str(status), 0) for status, count in operation.status_counts}


def chosen(shapes: Sequence[Shape], key: str) -> Shape:
    """The part that an address names; else the first 2xx, else the first response, else the first of all."""
    responses = [shape for shape in shapes if shape.part.status]
    good = [shape for shape in responses if 200 <= shape.part.status < 300]
    named = [shape for shape in shapes if shape.key == key]
    return [*named, *good, *responses, *shapes][0]


def parameters_of(operation: Operation) -> list[tuple[str, str]]:
    """Name and type of each parameter of the path, as the catalog has them."""
    names = shown_names([Counter(counts) for counts in operation.names])
    return [(name, parameter_type(types)) for name, types in zip(names, operation.types, strict=True)]
