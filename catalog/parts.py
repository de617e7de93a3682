"""The parts of one operation, in the order in which they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from affidavit import Evidence
from catalog.models import Operation
from catalog.projection import parameter_type, shown_names
from catalog.summing import Part


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


def shapes_of(operation: Operation) -> list[Shape]:
    """Request and query where any was seen, then a response for every status, with a body or without."""
    held = {Part(row.part, row.status): Evidence.from_state(row.evidence) for row in operation.parts.all()}
    asked = [Shape(part, held[part], operation.successes) for part in (Part("request"), Part("query")) if part in held]
    answered = [
        Shape(part, held.get(part, Evidence()), count)
        for status, count in operation.status_counts
        if (part := Part("response", status))
    ]
    return asked + answered


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
