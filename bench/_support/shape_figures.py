"""Compare recorded bodies with the descriptors inferred from them, location by location."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

ResponseKey = tuple[str, str, int]
"""Method, template and status."""

Location = tuple[str, ...]
"""The property names from the outermost value inwards, `[]` for the items of an array."""

KINDS = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}


class ObservedBodies:
    """The kinds of values, and whether arrays were empty, at each location of each response."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[ResponseKey, Location], set[str]] = defaultdict(set)
        self.arrays: dict[tuple[ResponseKey, Location], set[bool]] = defaultdict(set)

    def add(self, response: ResponseKey, body: Any) -> None:
        for location, value in _walk(body, ()):
            self.kinds[response, location].add(KINDS.get(type(value), "null"))
            if isinstance(value, list):
                self.arrays[response, location].add(bool(value))


def count_kept_properties(bodies: ObservedBodies, observations: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Return how many properties of the bodies are in a descriptor, and how many properties the bodies have."""
    descriptors = _group_descriptors(observations)
    locations = [location for location in bodies.kinds if location[1] and location[1][-1] != "[]"]
    return sum(bool(_find_nodes(descriptors, *location)) for location in locations), len(locations)


def count_untyped_nullables(bodies: ObservedBodies, observations: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Count the locations at which values were null or of one other type.

    Return how many of them have no type in the descriptor, and how many there are.
    """
    descriptors = _group_descriptors(observations)
    locations = [location for location, kinds in bodies.kinds.items() if "null" in kinds and len(kinds) == 2]
    return sum(not _has_type(_find_nodes(descriptors, *location), "null") for location in locations), len(locations)


def count_untyped_arrays(bodies: ObservedBodies, observations: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Count the arrays that were sometimes empty and otherwise had items of one type.

    Return how many of them have no type for their items in the descriptor, and how many there are.
    """
    descriptors = _group_descriptors(observations)
    locations = [
        (response, (*location, "[]"))
        for (response, location), emptiness in bodies.arrays.items()
        if len(emptiness) == 2 and len(bodies.kinds[response, (*location, "[]")] - {"null"}) == 1
    ]
    return sum(not _has_type(_find_nodes(descriptors, *location)) for location in locations), len(locations)


def _walk(value: Any, location: Location) -> Iterator[tuple[Location, Any]]:
    yield location, value
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _walk(member, (*location, name))
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, (*location, "[]"))


def _group_descriptors(observations: Sequence[Mapping[str, Any]]) -> dict[ResponseKey, list[Mapping[str, Any]]]:
    """Return the descriptors of each response. A response that was observed on several days has several."""
    descriptors: dict[ResponseKey, list[Mapping[str, Any]]] = defaultdict(list)
    for entry in observations:
        if "response" in entry:
            descriptors[entry["method"], entry["path"], entry["status"]].append(entry["response"])
    return descriptors


def _find_nodes(
    descriptors: Mapping[ResponseKey, Sequence[Mapping[str, Any]]], response: ResponseKey, location: Location
) -> list[Mapping[str, Any]]:
    """Return the nodes at a location. Where the keys of an object are data, its one node is under `values`."""
    nodes = list(descriptors.get(response, ()))
    for step in location:
        nodes = [child for node in nodes if (child := _find_child(node, step)) is not None]
    return nodes


def _find_child(node: Mapping[str, Any], step: str) -> Mapping[str, Any] | None:
    if step == "[]":
        return node.get("items")
    return node.get("properties", {}).get(step, node.get("values"))


def _has_type(nodes: Sequence[Mapping[str, Any]], *excluded_types: str) -> bool:
    """Return whether any node has a type. An object whose properties are unknown (`{}`) counts as typed."""
    return any(node["type"] not in ("unknown", *excluded_types) or node.get("of") == "object" for node in nodes)
