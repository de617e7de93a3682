"""The nodes of a shape as the rows of a page (pure): large branches are closed until someone opens them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from catalog.evidence.nodes import Node

CLOSED_FROM = 20  # a branch of as many nodes is closed at first


def build_rows(
    nodes: Sequence[Node], *, pointer: str = "", inside_only: bool = False, limit: int
) -> tuple[list[Node], bool]:
    """Return the rows of one page, at most `limit`, and whether there were more.

    pointer: the node to begin with, the root where there is no such node. inside_only: without that node's own row.
    What large branches further down contain is left out.
    """
    sizes, _ = measure_branches(nodes)
    start = next((index for index, node in enumerate(nodes) if node.pointer == pointer), 0)
    end = start + sizes[start] + 1
    rows = list(close_large_branches(nodes[start:end], sizes[start:end]))[1 if inside_only else 0 :]
    return mark_branch_ends(rows[:limit]), len(rows) > limit


def close_large_branches(nodes: Sequence[Node], sizes: Sequence[int]) -> Iterator[Node]:
    """Yield the nodes with their sizes, the first one open, without what large branches contain."""
    index = 0
    while index < len(nodes):
        size = sizes[index]
        lazy = index > 0 and size >= CLOSED_FROM
        yield replace(nodes[index], size=size, lazy=lazy)
        index += 1 + (size if lazy else 0)


def mark_branch_ends(rows: Sequence[Node]) -> list[Node]:
    """Return the rows with how many branches end at each."""
    return [
        replace(row, closes=ends, opens=row.lazy or size > 0)
        for row, size, ends in zip(rows, *measure_branches(rows), strict=True)
    ]


def measure_branches(nodes: Sequence[Node]) -> tuple[list[int], list[int]]:
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
