"""The rows of a shape on a page: one for each node, except beneath closed branches and beyond the limit.

The HTML of the branches is balanced.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from hypothesis import given

from affidavit import infer
from catalog.browse.operation.tree_rows import CLOSED_FROM, TreeRow, build_rows
from catalog.evidence.nodes import Node, list_nodes
from tests.catalog.json_values import VALUES

LARGE = {f"field{letter}": {f"inner{other}": {"x": 1} for other in "abcdefghijkl"} for letter in "abc"}


def nodes_of(value: object) -> list[Node]:
    return list(list_nodes(infer(value), observations=1))


def is_balanced(rows: list[TreeRow]) -> bool:
    """Return whether each branch that begins also ends, and each row's depth is the number of branches around it."""
    open_branches = 0
    for row in rows:
        if row.node.depth - rows[0].node.depth != open_branches:
            return False
        open_branches += row.is_branch and not row.is_closed
        open_branches -= row.branch_ends
    return open_branches == 0


def test_a_property_named_like_a_pointer_step_keeps_its_name():
    rows, _ = build_rows(nodes_of({"{}": 1, "17": "x"}), limit=9)
    assert [(row.node.pointer, row.label) for row in rows] == [
        ("", "the whole body"), ("/~3}", "{}"), ("/{}", "each value")
    ]  # fmt: skip


@given(VALUES)
def test_every_opened_branch_is_closed_and_counts_the_nodes_beneath(value):
    """The branch is closed in the HTML. (A row with `is_closed` is a branch whose nodes are left out.)"""
    nodes = nodes_of(value)
    rows, is_cut = build_rows(nodes, limit=1000)
    assert is_balanced(rows)
    assert not is_cut
    assert rows[0].size == len(nodes) - 1
    assert len(rows) + sum(row.size for row in rows if row.is_closed) == len(nodes)


def test_a_large_branch_is_left_out_until_it_is_opened():
    nodes = nodes_of(LARGE)
    rows, _ = build_rows(nodes, limit=1000)
    assert [(row.node.pointer, row.is_closed) for row in rows] == [
        ("", False), ("/fielda", True), ("/fieldb", True), ("/fieldc", True)
    ]  # fmt: skip
    assert is_balanced(rows)
    inside, _ = build_rows(nodes, pointer="/fieldb", inside_only=True, limit=1000)
    assert len(inside) == rows[2].size >= CLOSED_FROM
    assert {row.node.pointer.split("/")[1] for row in inside} == {"fieldb"}
    assert is_balanced(inside)
    opened, _ = build_rows(nodes, open_branches={"/fieldb", "/fieldx"}, limit=1000)
    assert [row.node.pointer for row in opened if row.is_closed] == ["/fielda", "/fieldc"]
    assert len(opened) == len(rows) + rows[2].size
    assert is_balanced(opened)
    branch, _ = build_rows(nodes, pointer="/fieldb", limit=1000)
    assert branch[0].node.pointer == "/fieldb"
    assert is_balanced(branch)


def test_more_rows_than_a_page_shows_are_cut_and_still_close():
    rows, is_cut = build_rows(nodes_of(LARGE["fielda"]), limit=5)
    assert (len(rows), is_cut) == (5, True)
    assert is_balanced(rows)


def test_an_unknown_pointer_shows_the_whole_shape():
    rows, _ = build_rows(nodes_of({"a": 1}), pointer="/nothing", limit=9)
    assert [row.node.pointer for row in rows] == ["", "/a"]


def test_a_name_without_a_visible_character_is_quoted():
    rows, _ = build_rows(nodes_of({"": 1, " ": 1, "\t ": 1, "a b": 1}), limit=9)
    assert {row.label for row in rows} == {"the whole body", '""', '" "', '"\t "', "a b"}


def test_a_name_of_zero_width_characters_is_written_as_their_codes():
    rows, _ = build_rows(nodes_of({"": 1, "\u200b": 1, "\ufeff \u200d": 1, "a\u200db": 1}), limit=9)
    assert {row.label for row in rows} == {"the whole body", '""', '"\\u200b"', '"\\ufeff \\u200d"', "a\u200db"}


def test_a_row_says_when_its_node_was_seen_if_that_differs_from_the_root():
    days: dict[str, Any] = {"first_day": date(2026, 1, 5), "last_day": date(2026, 3, 7)}
    root, plain, late, gone = (node._replace(**days) for node in nodes_of({"a": 1, "b": 2, "c": 3}))
    late = late._replace(first_day=date(2026, 2, 6))
    rows = [TreeRow(node, root=root) for node in (root, plain, late)] + [TreeRow(gone, root=root, is_vanished=True)]
    assert [(row.first_day, row.last_day, row.has_history) for row in rows] == [
        ("5 Jan 2026", "7 Mar 2026", True), ("", "", False), ("6 Feb 2026", "", True), ("", "7 Mar 2026", True)
    ]  # fmt: skip
