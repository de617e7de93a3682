"""The nodes of a shape (pure): every property, item and value in it, in the order of the tree, with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from affidavit import Evidence, describe
from catalog.evidence.outlines import Descriptor, is_repeated_field
from catalog.evidence.type_names import describe_type, has_several_types
from catalog.shape_pointers import ITEMS, VALUES, join_property

EPOCH = date(1970, 1, 1)
EMPTY_OBJECT = "always {} so far"


class Node(NamedTuple):
    """One node of a shape.

    name: the name of the property; `[]` for the items of an array, `{}` for the values of keys that are data, "" for
        the root. Only the pointer distinguishes these from properties that have such a name.
    parents: how often it could have been present, which is how often its parent was an object; for the root, the
        observations; None if unknown.
    types: the count of each type, null included, if several besides null were seen.
    collapsed: whether its names were not kept.
    map_names: the number of names of an object that is shown as a map.
    objects: how often it was an object.
    is_reset: whether its baseline was reset, so that `seen` and `parents` count from then on.
    is_mixed: whether several types were seen.
    """

    name: str
    pointer: str
    depth: int
    type: str
    reason: str
    seen: int
    parents: int | None
    nulls: int
    types: Mapping[str, int]
    redacted: bool
    collapsed: bool
    first_day: date | None
    last_day: date | None
    map_names: int = 0
    objects: int = 0
    is_reset: bool = False
    is_mixed: bool = False

    @property
    def presence(self) -> float | None:
        """Return the share of its presence, 0 to 1: `seen` divided by `parents`. None if `parents` is 0 or unknown."""
        return self.seen / self.parents if self.parents else None

    @property
    def is_nameless(self) -> bool:
        """Return whether it is not a property, but the root, the items of an array or the values of a map."""
        return self.depth == 0 or self.pointer.rpartition("/")[2] in (ITEMS, VALUES)

    @property
    def is_object(self) -> bool:
        """Return whether an object was seen here, perhaps among other types."""
        return self.main_type == "object" or "object" in self.types or self.reason == EMPTY_OBJECT

    @property
    def main_type(self) -> str:
        """Return the type without that of its items or values: `array` for `array of string`, `object` for a map.

        Mixed types are `unknown`, as in outlines.
        """
        if self.is_mixed:
            return "unknown"
        main_type = self.type.split()[0]
        return "object" if main_type == "map" else main_type


def list_nodes(
    evidence: Evidence,
    *,
    observations: int,
    maps: Mapping[str, int] | None = None,
    resets: Mapping[str, int | None] | None = None,
    has_fields: bool = False,
) -> Iterator[Node]:
    """Yield every node of a shape; `observations` is how often the root could have been present.

    maps: the number of names of each map, by pointer.
    resets: how often each reset node could have been present since its reset, by pointer; None if unknown.
    has_fields: whether it is a query or a form, whose names may be repeated.
    """
    maps, resets = maps or {}, resets or {}
    descriptor = describe(evidence, max_nodes=None)
    field_types = _name_repeated_fields(descriptor) if has_fields else {}
    for node in _walk("", "", 0, evidence, descriptor, observations):
        pointer = node.pointer
        if pointer in field_types:
            node = node._replace(type=field_types[pointer], is_mixed=False)
        if pointer in resets:
            parents = resets[pointer]
            node = node._replace(is_reset=True, parents=node.parents if parents is None else parents)
        yield node._replace(map_names=maps[pointer]) if pointer in maps else node


def _name_repeated_fields(descriptor: Descriptor) -> dict[str, str]:
    """Return `string or array of string` for each name that is sometimes repeated, by pointer."""
    item_types = {
        join_property("", name): describe_type(inner["items"])
        for name, inner in descriptor.get("properties", {}).items()
        if is_repeated_field(inner)
    }
    return {pointer: f"{item_type} or array of {item_type}" for pointer, item_type in item_types.items()}


def _walk(
    name: str, pointer: str, depth: int, evidence: Evidence, descriptor: Descriptor, parents: int | None
) -> Iterator[Node]:
    objects = evidence.counts.get("object", 0)
    yield Node(
        name=name,
        pointer=pointer,
        depth=depth,
        type=describe_type(descriptor),
        reason=_describe_reason(descriptor),
        seen=evidence.seen,
        parents=parents,
        nulls=descriptor.get("nulls", 0),
        types=_count_types(descriptor),
        redacted=evidence.redacted,
        collapsed=evidence.collapsed,
        first_day=_convert_day(evidence.first),
        last_day=_convert_day(evidence.last),
        objects=objects,
        is_mixed=has_several_types(descriptor),
    )
    for child, inner in descriptor.get("properties", {}).items():
        yield from _walk(child, join_property(pointer, child), depth + 1, evidence.properties[child], inner, objects)
    for member, step, inner_evidence in (("items", ITEMS, evidence.items), ("values", VALUES, evidence.values)):
        if inner_evidence is not None and member in descriptor:
            yield from _walk(step, f"{pointer}/{step}", depth + 1, inner_evidence, descriptor[member], None)


def _describe_reason(descriptor: Descriptor) -> str:
    match descriptor.get("reason"), descriptor.get("of"), descriptor["type"]:
        case "empty", "object", _:
            return EMPTY_OBJECT
        case "empty", _, _:
            return "nothing seen yet"
        case "limit", _, _:
            return "cut by a limit"
        case _, _, "array" if _is_empty_item(descriptor["items"]):
            return "always empty so far"
    return ""


def _is_empty_item(item: Descriptor) -> bool:
    return item.get("reason") == "empty" and not item.get("of")


def _count_types(descriptor: Descriptor) -> Mapping[str, int]:
    """Count the types of a node, null among them; empty unless several besides null were seen."""
    types: dict[str, Any] = dict(descriptor.get("types", {}))
    if types and descriptor.get("nulls"):
        types["null"] = descriptor["nulls"]
    return types


def _convert_day(number: int | None) -> date | None:
    return None if number is None else EPOCH + timedelta(days=number)
