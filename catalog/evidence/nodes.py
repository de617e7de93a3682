"""The nodes of a shape (pure): one for every place in it, in the order of the tree, with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from affidavit import Evidence, describe
from catalog.evidence.parts import PartShape
from catalog.evidence.pointers import ITEMS, VALUES, describe_type, join_property

EPOCH = date(1970, 1, 1)
DEEPEST_INDENT = 8
PLACES = {"": "the whole body", ITEMS: "each item", VALUES: "each value"}
EMPTY_OBJECT = "always {} so far"


@dataclass(frozen=True)
class Node:
    """One place in a shape.

    name: the property, `[]` for items of an array, `{}` for what keys that are data hold, "" the root; only the pointer
    tells these from properties of such names.
    parents: how often it could have been there: its parent was an object, or for the root the observations.
    types: counts per type, null included, where more than one was seen. names: of an object that is shown as a map,
    how many it has. fresh: it was started afresh, and `seen` and `parents` count since. size: nodes beneath it.
    opens: something is beneath it; lazy: which is left for when it is opened. closes: how many folded nodes end here.
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
    first: date | None
    last: date | None
    names: int = 0
    fresh: bool = False
    size: int = 0
    opens: bool = False
    closes: int = 0
    lazy: bool = False

    @property
    def label(self) -> str:
        return PLACES.get(self.name, self.name) if self.is_place else self.name

    @property
    def presence(self) -> float | None:
        """Share of the times that it could have been there, 0 to 1; None where it never could."""
        return self.seen / self.parents if self.parents else None

    @property
    def last_words(self) -> str:
        return f"{self.last:%-d %b %Y}" if self.last else ""

    @property
    def days(self) -> str:
        return f"first {self.first:%-d %b %Y}, last {self.last:%-d %b %Y}" if self.first and self.last else ""

    @property
    def is_place(self) -> bool:
        """It has no name of its own: the root, items of an array, values of a map."""
        return self.depth == 0 or self.pointer.rpartition("/")[2] in (ITEMS, VALUES)

    @property
    def is_object(self) -> bool:
        """Whether an object was seen here, perhaps among other types."""
        return self.color == "object" or "object" in self.types or self.reason == EMPTY_OBJECT

    @property
    def color(self) -> str:
        """The type of which the whole is coloured: an array's own, not its items'."""
        return {"map": "object"}.get(first := self.type.split()[0], first)

    @property
    def tags(self) -> list[str]:
        """What else there is to know of it."""
        tags = ["redacted"] if self.redacted else []
        tags += [f"{self.names:,} names"] if self.names else []
        tags += ["names not kept"] if self.collapsed else []
        return [*tags, "afresh"] if self.fresh else tags

    @property
    def indent(self) -> int:
        return min(self.depth, DEEPEST_INDENT)

    @property
    def closes_each(self) -> range:
        return range(self.closes)


def list_part_nodes(shape: PartShape) -> Iterator[Node]:
    """Yield every node of a part, in the order of the tree."""
    return nodes(shape.evidence, observations=shape.observations, maps=shape.maps, fresh=shape.fresh)


def nodes(
    evidence: Evidence,
    *,
    observations: int,
    maps: Mapping[str, int] | None = None,
    fresh: Mapping[str, int | None] | None = None,
) -> Iterator[Node]:
    """Every node of a shape; `observations` is how often the root could have been there.

    maps, fresh: as in catalog.evidence.epochs.Shown.
    """
    for node in walk("", "", 0, evidence, describe(evidence, max_nodes=None), observations):
        yield marked(node, maps, fresh) if maps or fresh else node


def marked(node: Node, maps: Mapping[str, int] | None, fresh: Mapping[str, int | None] | None) -> Node:
    since = (fresh or {}).get(node.pointer)
    return replace(
        node,
        names=(maps or {}).get(node.pointer, 0),
        fresh=node.pointer in (fresh or {}),
        parents=node.parents if since is None else since,
    )


def walk(
    name: str,
    pointer: str,
    depth: int,
    evidence: Evidence,
    descriptor: Mapping[str, Any],
    parents: int | None,
) -> Iterator[Node]:
    yield Node(
        name=name,
        pointer=pointer,
        depth=depth,
        type=describe_type(descriptor),
        reason=reason_words(descriptor),
        seen=evidence.seen,
        parents=parents,
        nulls=descriptor.get("nulls", 0),
        types=types_seen(descriptor),
        redacted=evidence.redacted,
        collapsed=evidence.collapsed,
        first=day(evidence.first),
        last=day(evidence.last),
    )
    objects = evidence.counts.get("object", 0)
    for child, inner in descriptor.get("properties", {}).items():
        yield from walk(child, join_property(pointer, child), depth + 1, evidence.properties[child], inner, objects)
    for child, held in ((ITEMS, evidence.items), (VALUES, evidence.values)):
        member = "items" if child == ITEMS else "values"
        if held is not None and member in descriptor:
            yield from walk(child, f"{pointer}/{child}", depth + 1, held, descriptor[member], None)


def reason_words(descriptor: Mapping[str, Any]) -> str:
    match descriptor.get("reason"), descriptor.get("of"), descriptor["type"]:
        case "empty", "object", _:
            return EMPTY_OBJECT
        case "empty", _, _:
            return "nothing seen yet"
        case "divergent", _, _:
            return "different types"
        case "limit", _, _:
            return "cut by a limit"
    empty = descriptor["type"] == "array" and descriptor["items"].get("reason") == "empty"
    return "always empty so far" if empty and not descriptor["items"].get("of") else ""


def types_seen(descriptor: Mapping[str, Any]) -> dict[str, int]:
    """Counts by type, null among them; empty where there is only one."""
    types = dict(descriptor.get("types", {}))
    if types and descriptor.get("nulls"):
        types["null"] = descriptor["nulls"]
    return types


def day(number: int | None) -> date | None:
    return None if number is None else EPOCH + timedelta(days=number)
