"""What the bodies hold, place by place, and what became of it in the descriptors made of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Answer = tuple[str, str, int]
"""Method, template and status."""

Location = tuple[str, ...]
"""Names of properties from the outermost value inwards, `[]` for the items of an array."""

KINDS = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}


class Bodies:
    """The kinds of values, and whether arrays were empty, at each location of each answer."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[Answer, Location], set[str]] = defaultdict(set)
        self.arrays: dict[tuple[Answer, Location], set[bool]] = defaultdict(set)

    def add(self, answer: Answer, body: Any) -> None:
        for location, value in _walk(body, ()):
            self.kinds[answer, location].add(KINDS.get(type(value), "null"))
            if isinstance(value, list):
                self.arrays[answer, location].add(bool(value))


def properties_kept(bodies: Bodies, observations: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many of the properties seen in bodies have a place in a descriptor, and how many there are."""
    shapes = _shapes(observations)
    places = [place for place in bodies.kinds if place[1] and place[1][-1] != "[]"]
    return sum(bool(_nodes(shapes, *place)) for place in places), len(places)


def nulls_beside_one_type(bodies: Bodies, observations: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many places with null and one type have no type in the end, of all such."""
    shapes = _shapes(observations)
    places = [place for place, kinds in bodies.kinds.items() if "null" in kinds and len(kinds) == 2]
    return sum(not _typed(_nodes(shapes, *place), "null") for place in places), len(places)


def emptied_arrays(bodies: Bodies, observations: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many arrays that were at times empty, at times full of one type, have no type of items in the end."""
    shapes = _shapes(observations)
    places = [
        (answer, (*location, "[]"))
        for (answer, location), filled in bodies.arrays.items()
        if len(filled) == 2 and len(bodies.kinds[answer, (*location, "[]")] - {"null"}) == 1
    ]
    return sum(not _typed(_nodes(shapes, *place)) for place in places), len(places)


def _walk(value: Any, location: Location) -> Iterator[tuple[Location, Any]]:
    yield location, value
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _walk(member, (*location, name))
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, (*location, "[]"))


def _shapes(observations: Sequence[Mapping[str, Any]]) -> dict[Answer, list[Mapping[str, Any]]]:
    """The descriptors of each answer; several where it was seen on several days."""
    found: dict[Answer, list[Mapping[str, Any]]] = defaultdict(list)
    for entry in observations:
        if "response" in entry:
            found[entry["method"], entry["path"], entry["status"]].append(entry["response"])
    return found


def _nodes(
    shapes: Mapping[Answer, Sequence[Mapping[str, Any]]], answer: Answer, location: Location
) -> list[Mapping[str, Any]]:
    """What stands at a location; keys that are data stand together under `values`."""
    nodes = list(shapes.get(answer, ()))
    for step in location:
        nodes = [found for node in nodes if (found := _step(node, step)) is not None]
    return nodes


def _step(node: Mapping[str, Any], step: str) -> Mapping[str, Any] | None:
    if step == "[]":
        return node.get("items")
    return node.get("properties", {}).get(step, node.get("values"))


def _typed(nodes: Sequence[Mapping[str, Any]], *but: str) -> bool:
    """`{}` is known to be an object, though of unknown properties."""
    return any(node["type"] not in ("unknown", *but) or node.get("of") == "object" for node in nodes)
