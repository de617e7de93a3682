"""The places in a shape and how they are named (pure): `/lines/[]/sku`, `[]` for each item, `{}` for each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from affidavit import Evidence

ITEMS, VALUES = "[]", "{}"


class Place(NamedTuple):
    """Evidence, and how often it could have been there: as often as its parent was an object, else None."""

    evidence: Evidence
    parents: int | None


def below(pointer: str, name: str) -> str:
    """The pointer of a property, its name as an RFC 6901 token."""
    return f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"


def steps_of(pointer: str) -> list[str]:
    """The names in a pointer, with `[]` and `{}` as they stand; the root has none."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def is_within(pointer: str, outer: str) -> bool:
    """Whether a place is at or beneath another."""
    return f"{pointer}/".startswith(f"{outer}/")


def inside(evidence: Evidence, pointer: str) -> Iterator[tuple[str, str, Evidence]]:
    """The places right under one: the step there, the pointer, the evidence."""
    for name, child in evidence.properties.items():
        yield name, below(pointer, name), child
    for name, held in ((ITEMS, evidence.items), (VALUES, evidence.values)):
        if held is not None:
            yield name, f"{pointer}/{name}", held


def places(evidence: Evidence, *, observations: int | None, pointer: str = "") -> Iterator[tuple[str, Place]]:
    """Every place by its pointer, the root first; `observations` is how often the root could have been there."""
    yield pointer, Place(evidence, observations)
    objects = evidence.counts.get("object", 0)
    for name, child in evidence.properties.items():
        yield from places(child, observations=objects, pointer=below(pointer, name))
    for name, held in ((ITEMS, evidence.items), (VALUES, evidence.values)):
        if held is not None:
            yield from places(held, observations=None, pointer=f"{pointer}/{name}")


def type_words(descriptor: Mapping[str, Any]) -> str:
    """`array of object`, `map of string`, or the type itself."""
    kind = descriptor["type"]
    if kind == "array":
        return f"array of {descriptor['items']['type']}"
    if kind == "object" and "values" in descriptor and not descriptor.get("properties"):
        return f"map of {descriptor['values']['type']}"
    return kind
