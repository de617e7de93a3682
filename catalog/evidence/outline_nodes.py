"""The nodes of an outline with their pointers (pure): cheaper to read than evidence, if counts do not matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from catalog.evidence.outlines import Descriptor, Outline, list_outline_parts
from catalog.evidence.type_names import describe_type
from catalog.shape_pointers import ITEMS, VALUES, join_property, property_name, split_pointer


class OutlineNode(NamedTuple):
    """One property of an outline.

    part: `query`, `request` or a status.
    type: its type in words, without null.
    """

    part: str
    pointer: str
    name: str
    type: str
    is_redacted: bool
    is_nullable: bool

    @property
    def full_type(self) -> str:
        """Return `string or null` for a string that can be null."""
        return f"{self.type} or null" if self.is_nullable and self.type != "null" else self.type


def list_outline_nodes(outline: Outline) -> Iterator[OutlineNode]:
    """Yield every property of every part, in the order of the outline."""
    for part, descriptor in list_outline_parts(outline):
        yield from _walk_descriptor(part, "", descriptor)


def _walk_descriptor(part: str, pointer: str, descriptor: Descriptor) -> Iterator[OutlineNode]:
    for name, child in descriptor.get("properties", {}).items():
        child_pointer = join_property(pointer, name)
        is_redacted, is_nullable = (bool(child.get(member)) for member in ("redacted", "nullable"))
        yield OutlineNode(part, child_pointer, name, describe_type(child), is_redacted, is_nullable)
        yield from _walk_descriptor(part, child_pointer, child)
    for member, step in (("items", ITEMS), ("values", VALUES)):
        if member in descriptor:
            yield from _walk_descriptor(part, f"{pointer}/{step}", descriptor[member])


def remove_properties(outline: Outline, properties: Iterable[tuple[str, str]]) -> Outline:
    """Return the outline without these properties, each a part and a pointer."""
    copy = deepcopy(outline)
    parts = dict(list_outline_parts(copy))
    for part, pointer in properties:
        *steps, last = split_pointer(pointer) or [""]
        descriptor: Any = parts.get(part, {})
        for step in steps:
            descriptor = _find_child(descriptor, step)
        descriptor.get("properties", {}).pop(property_name(last), None)
    return copy


def _find_child(descriptor: Descriptor, step: str) -> Descriptor:
    member = {ITEMS: "items", VALUES: "values"}.get(step)
    child: Descriptor = (
        descriptor.get(member, {}) if member else descriptor.get("properties", {}).get(property_name(step), {})
    )
    return child
