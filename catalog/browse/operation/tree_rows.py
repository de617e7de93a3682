"""The nodes of a shape as the rows of a page (pure): large branches are closed until someone opens them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from catalog.browse.operation.presence_counts import Presence
from catalog.change_kinds import NO_LONGER_SEEN
from catalog.drift.presence.current_presence import CurrentPresence
from catalog.evidence.nodes import Node
from catalog.shape_pointers import ITEMS, VALUES
from wire.format_numbers import count_noun

CLOSED_FROM = 20  # branches of this many nodes or more are closed at first
MAX_INDENT = 8
NO_PRESENCE = Presence(0, None)
NAMELESS_LABELS = {"": "the whole body", ITEMS: "each item", VALUES: "each value"}


def label_node(node: Node) -> str:
    """Return what a page calls a node: its name, quoted if it cannot be seen, or a nameless node's label.

    In quotes, a character without a width is written as its code, such as `\\u200b`.
    """
    if node.is_nameless:
        return NAMELESS_LABELS.get(node.name, node.name)
    if any(_is_visible(character) for character in node.name):
        return node.name
    characters = (character if character.isspace() else ascii(character)[1:-1] for character in node.name)
    return f'"{"".join(characters)}"'


def _is_visible(character: str) -> bool:
    return character.isprintable() and not character.isspace()


class NodeChange(Protocol):
    """The part of a drift change that the row of its node shows."""

    pk: int
    kind: str
    breaks: str

    @property
    def words(self) -> str: ...


@dataclass(frozen=True)
class TreeRow:
    """A node as a row.

    size: how many nodes are beneath it.
    is_branch: whether any node is beneath it.
    is_open_at_first: whether the nodes beneath it are shown at first.
    is_closed: whether the nodes beneath it are left out until a reader opens the row.
    branch_ends: how many open branches end with this row.
    presence: its presence in the period of the page.
    change: its last drift in that period.
    is_vanished: whether it is no longer seen.
    probably_gone: its presence up to now if it is probably gone.
    is_match: whether it matches the search words in the address.
    is_best: whether it is the match to show first.
    is_chosen: whether the address names it, so that its manual overrides are shown beneath it.
    root: the root of its shape.
    """

    node: Node
    presence: Presence = NO_PRESENCE
    change: NodeChange | None = None
    is_vanished: bool = False
    probably_gone: CurrentPresence | None = None
    is_match: bool = False
    is_best: bool = False
    is_chosen: bool = False
    size: int = 0
    is_branch: bool = False
    is_open_at_first: bool = True
    is_closed: bool = False
    branch_ends: int = 0
    root: Node | None = None

    @property
    def label(self) -> str:
        return label_node(self.node)

    @property
    def indent(self) -> int:
        return min(self.node.depth, MAX_INDENT)

    @property
    def types(self) -> list[tuple[str, int]]:
        """Return how often each type was observed, the most frequent first; empty if only one was, besides null."""
        return sorted(self.node.types.items(), key=lambda item: -item[1])

    @property
    def tags(self) -> list[str]:
        """Return short remarks on the node, which are shown after its type."""
        node = self.node
        tags = ["redacted"] if node.redacted else []
        tags += [count_noun(node.map_names, "name")] if node.map_names else []
        tags += ["names not kept"] if node.collapsed else []
        return [*tags, "baseline reset"] if node.is_reset else tags

    @property
    def is_gone(self) -> bool:
        """Return whether it is no longer seen, probably gone, or was reported as no longer seen in the period."""
        is_reported = self.change is not None and self.change.kind == NO_LONGER_SEEN
        return self.is_vanished or self.probably_gone is not None or is_reported

    @property
    def is_empty_reset(self) -> bool:
        """Return whether its baseline was reset and it was not observed since: its stored evidence does not count."""
        return self.node.is_reset and not self.node.seen

    @property
    def has_remarks(self) -> bool:
        """Return whether the row shows anything after the type."""
        node = self.node
        return bool(node.nulls or node.reason or node.types or self.tags)

    @property
    def first_day(self) -> str:
        """Return the day of the first observation; "" if it is the root's, unless this is the root."""
        day = self.node.first_day
        return "" if self.node.pointer and self.root and day == self.root.first_day else _write_day(day)

    @property
    def last_day(self) -> str:
        """Return the day of the last observation; "" if it is the root's, unless this is the root or is gone."""
        day = self.node.last_day
        is_roots = bool(self.node.pointer) and self.root is not None and day == self.root.last_day
        return "" if is_roots and not self.is_gone else _write_day(day)

    @property
    def has_history(self) -> bool:
        """Return whether the row shows when its node was seen, changed or vanished."""
        return bool(self.is_gone or self.change or self.first_day or self.last_day)

    @property
    def each_branch_end(self) -> range:
        """Return a range to loop over, because a template cannot count."""
        return range(self.branch_ends)


def _write_day(day: date | None) -> str:
    return f"{day:%-d %b %Y}" if day else ""


def find_chosen_pointer(address: Mapping[str, str], nodes: Sequence[Node]) -> str | None:
    """Return the pointer of the node that `at` names, the root's if there is no such node; None without `at`."""
    if "at" not in address:
        return None
    pointer = address["at"]
    return pointer if any(node.pointer == pointer for node in nodes) else ""


def build_rows(
    nodes: Sequence[Node],
    *,
    pointer: str = "",
    inside_only: bool = False,
    open_branches: Container[str] = (),
    open_at_first: Container[str] = (),
    are_all_open: bool = False,
    limit: int,
) -> tuple[list[TreeRow], bool]:
    """Return the rows of one page, at most `limit`, and whether there were more.

    pointer: the node to begin with, the root if there is no such node.
    inside_only: whether to leave out that node's own row.

    The nodes in large branches further down are left out, unless `open_branches` or `open_at_first` has the branch's
    pointer, or `are_all_open` is set.
    """
    sizes, _ = _measure_branches(nodes)
    start = next((index for index, node in enumerate(nodes) if node.pointer == pointer), 0)
    end = start + sizes[start] + 1
    closed_from = len(nodes) if are_all_open else CLOSED_FROM
    tree_rows = _close_large_branches(nodes[start:end], sizes[start:end], open_branches, open_at_first, closed_from)
    rows = list(tree_rows)[1 if inside_only else 0 :]
    return _mark_branches(rows[:limit]), len(rows) > limit


def _close_large_branches(
    nodes: Sequence[Node],
    sizes: Sequence[int],
    open_branches: Container[str],
    open_at_first: Container[str],
    closed_from: int,
) -> Iterator[TreeRow]:
    """Yield the nodes as rows. The first one is open.

    Other large branches are closed, without their nodes, unless the reader or the page opens them.
    """
    index = 0
    while index < len(nodes):
        size = sizes[index]
        is_open_at_first = index == 0 or size < closed_from or nodes[index].pointer in open_at_first
        is_closed = not is_open_at_first and nodes[index].pointer not in open_branches
        yield TreeRow(nodes[index], size=size, is_open_at_first=is_open_at_first, is_closed=is_closed)
        index += 1 + (size if is_closed else 0)


def _mark_branches(rows: Sequence[TreeRow]) -> list[TreeRow]:
    """Return the rows, with marks for the beginnings and ends of branches."""
    measures = _measure_branches([row.node for row in rows])
    return [
        replace(row, is_branch=row.is_closed or size > 0, branch_ends=ends)
        for row, size, ends in zip(rows, *measures, strict=True)
    ]


def _measure_branches(nodes: Sequence[Node]) -> tuple[list[int], list[int]]:
    """Return for each node how many nodes are beneath it, and how many branches above end with it."""
    sizes = [0] * len(nodes)
    ends = [0] * len(nodes)
    open_branches: list[int] = []

    def end_branch(last: int) -> None:
        branch = open_branches.pop()
        sizes[branch] = last - branch
        ends[last] += last > branch

    for index, node in enumerate(nodes):
        while open_branches and nodes[open_branches[-1]].depth >= node.depth:
            end_branch(index - 1)
        open_branches.append(index)
    while open_branches:
        end_branch(len(nodes) - 1)
    return sizes, ends
