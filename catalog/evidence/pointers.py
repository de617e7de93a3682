"""The places in a shape and how they are named (pure): `/lines/[]/sku`, `[]` for each item, `{}` for each value.

Names are escaped as in RFC 6901, `~0` for `~` and `~1` for `/`; a property whose whole name is `[]` or `{}` is `~2]` or
`~3}`, so that it is never taken for the items of an array or the values of a map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from affidavit import Evidence

ITEMS, VALUES = "[]", "{}"
NAMED_ALIKE = {ITEMS: "~2]", VALUES: "~3}"}  # properties of these names
ALIKE_NAMES = {step: name for name, step in NAMED_ALIKE.items()}


class EvidenceNode(NamedTuple):
    """Evidence, and how often it could have been there: as often as its parent was an object, else None."""

    evidence: Evidence
    parents: int | None


def join_property(pointer: str, name: str) -> str:
    """The pointer of a property."""
    return f"{pointer}/{property_step(name)}"


def property_step(name: str) -> str:
    """The step to a property, which is neither ITEMS nor VALUES."""
    return NAMED_ALIKE.get(name) or name.replace("~", "~0").replace("/", "~1")


def property_name(step: str) -> str:
    """The property to which a step leads."""
    return ALIKE_NAMES.get(step) or step.replace("~1", "/").replace("~0", "~")


def split_pointer(pointer: str) -> list[str]:
    """The steps of a pointer as they stand in it: ITEMS, VALUES, or that of a property; the root has none."""
    return pointer.split("/")[1:]


def is_within(pointer: str, outer: str) -> bool:
    """Whether a place is at or beneath another."""
    return f"{pointer}/".startswith(f"{outer}/")


def list_children(evidence: Evidence, pointer: str) -> Iterator[tuple[str, str, Evidence]]:
    """The places right under one: the step there, the pointer, the evidence."""
    for name, child in evidence.properties.items():
        yield property_step(name), join_property(pointer, name), child
    for name, held in ((ITEMS, evidence.items), (VALUES, evidence.values)):
        if held is not None:
            yield name, f"{pointer}/{name}", held


def walk_nodes(
    evidence: Evidence, *, observations: int | None, pointer: str = ""
) -> Iterator[tuple[str, EvidenceNode]]:
    """Every place by its pointer, the root first; `observations` is how often the root could have been there."""
    yield pointer, EvidenceNode(evidence, observations)
    objects = evidence.counts.get("object", 0)
    for name, child in evidence.properties.items():
        yield from walk_nodes(child, observations=objects, pointer=join_property(pointer, name))
    for name, held in ((ITEMS, evidence.items), (VALUES, evidence.values)):
        if held is not None:
            yield from walk_nodes(held, observations=None, pointer=f"{pointer}/{name}")


def describe_type(descriptor: Mapping[str, Any]) -> str:
    """`array of object`, `map of string`, or the type itself."""
    kind = descriptor["type"]
    if kind == "array":
        return f"array of {descriptor['items']['type']}"
    if kind == "object" and "values" in descriptor and not descriptor.get("properties"):
        return f"map of {descriptor['values']['type']}"
    return kind
