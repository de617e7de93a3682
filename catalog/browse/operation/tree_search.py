"""Find nodes of a shape by words (pure), with the branches that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.evidence.nodes import Node

MAX_EXAMPLE = 16  # characters of a search that is offered as an example


@dataclass(frozen=True)
class NodeMatches:
    """The result of a search.

    nodes: the matches and all nodes above them, in order.
    best: the pointer to show first.
    """

    nodes: Sequence[Node]
    pointers: frozenset[str]
    best: str


def find_nodes(nodes: Sequence[Node], words: Sequence[str]) -> NodeMatches:
    """Return the properties whose pointer and types together contain all words, and whose name or types contain one.

    words: the words in lower case; one with a colon, such as `total:number`, names a property and its type.

    The best is the first whose name, alone or with a type, is exactly one of the words; otherwise the first match.
    """
    matches = [node for node in nodes if not node.is_nameless and _contains(node, words)]
    exact = (node for node in matches if any(word in _list_node_texts(node) for word in words))
    best = next(exact, matches[0] if matches else None)
    pointers = frozenset(node.pointer for node in matches)
    return NodeMatches(_with_branches(nodes, pointers), pointers, best.pointer if best else "")


def find_search_example(nodes: Sequence[Node]) -> str:
    """Return a search that finds a leaf, such as `total:number`; "" if none is short."""
    leaves = (node for node in nodes if not node.is_nameless and node.main_type in ("integer", "number", "string"))
    examples = (f"{node.name}:{node.main_type}" for node in leaves if " " not in node.name)
    return next((example for example in examples if len(example) <= MAX_EXAMPLE), "")


def find_unknown_nodes(nodes: Sequence[Node]) -> Sequence[str]:
    """Return the pointers of the nodes of unknown or several types; [] for a part of which no body was ever seen."""
    if not nodes or not nodes[0].seen:
        return []
    # The items of an array that was always empty are no node: the array's type names them.
    return [node.pointer for node in nodes if node.main_type == "unknown" or node.type.endswith(" unknown")]


def _contains(node: Node, words: Sequence[str]) -> bool:
    own_text = "\n".join(_list_node_texts(node))
    text = f"{node.pointer.casefold()}\n{own_text}"
    return all(word in text for word in words) and any(word in own_text for word in words)


def _list_node_texts(node: Node) -> Sequence[str]:
    """Return the texts of a node: its name with the shown type, with each type that was seen, and without a type."""
    name = node.name.casefold()
    types = [node.type.casefold(), node.main_type.casefold(), *node.types, *(["null"] if node.nulls else [])]
    return (*(f"{name}:{kind}" for kind in types), name)


def _with_branches(nodes: Sequence[Node], pointers: frozenset[str]) -> Sequence[Node]:
    """Return the nodes with these pointers and all nodes above them."""
    selection: list[Node] = []
    depth_above = -1  # the next node with a smaller depth is the parent of the last selected one
    for node in reversed(nodes):
        if node.pointer in pointers or node.depth < depth_above:
            selection.append(node)
            depth_above = node.depth
    return selection[::-1]
