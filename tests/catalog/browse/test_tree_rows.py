"""A shape as rows: every node once, with its evidence, and nothing that is not so."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from affidavit import Evidence, infer
from catalog.browse.tree_rows import CLOSED_FROM, build_rows
from catalog.evidence.nodes import Node, nodes

NAMES = st.text("ab/~", max_size=3) | st.sampled_from(["[]", "{}", "~2]", "17"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


def rows_of(*values: object) -> dict[str, Node]:
    evidence = Evidence()
    for value in values:
        evidence.add(infer(value, day=20_000))
    return {node.pointer: node for node in nodes(evidence, observations=len(values))}


def test_a_property_that_is_named_like_a_place_is_shown_by_its_name():
    rows = rows_of({"{}": 1, "17": "x"})
    assert {pointer: row.label for pointer, row in rows.items() if pointer} == {"/~3}": "{}", "/{}": "each value"}


def test_a_property_is_present_as_often_as_its_parent_was_an_object():
    rows = rows_of({"a": {"b": 1}}, {"a": {}}, {"a": None}, {})
    assert (rows["/a"].seen, rows["/a"].parents, rows["/a"].presence) == (3, 4, 0.75)
    assert (rows["/a/b"].seen, rows["/a/b"].parents) == (1, 2)
    assert rows["/a"].nulls == 1


def test_types_that_differ_are_told_with_their_counts():
    rows = rows_of({"a": 1}, {"a": "x"}, {"a": "y"}, {"a": None})
    assert (rows["/a"].type, rows["/a"].reason) == ("unknown", "different types")
    assert rows["/a"].types == {"integer": 1, "string": 2, "null": 1}


def test_arrays_and_maps_say_of_what():
    rows = rows_of({"list": [{"id": 1}], "none": [], "map": {"4f1c2d3e-9a53-4b7e-8f5a-0f4f0c6f6b11": "x"}, "o": {}})
    assert rows["/list"].type == "array of object"
    assert rows["/list/[]/id"].type == "integer"
    assert (rows["/none"].type, rows["/none"].reason) == ("array of unknown", "always empty so far")
    assert rows["/map"].type == "map of string"
    assert (rows["/o"].type, rows["/o"].reason) == ("unknown", "always {} so far")


def test_a_node_tells_its_days_and_what_is_sensitive():
    rows = rows_of({"password": "x"})
    assert rows["/password"].redacted
    assert rows["/password"].first == rows["/password"].last == date(2024, 10, 4)


def balanced(rows: list[Node]) -> bool:
    """Whether every fold that opens also closes, and a row stands as deep as the folds that are open."""
    open_folds: list[Node] = []
    for row in rows:
        if row.depth - rows[0].depth != len(open_folds):
            return False
        if row.opens and not row.lazy:
            open_folds.append(row)
        del open_folds[len(open_folds) - row.closes :]
    return open_folds == []


@given(VALUES)
def test_every_fold_that_opens_also_closes_and_holds_what_is_beneath(value):
    whole = list(nodes(infer(value), observations=1))
    rows, is_cut = build_rows(whole, limit=1000)
    assert balanced(rows)
    assert not is_cut
    assert rows[0].size == len(whole) - 1
    assert len(rows) + sum(row.size for row in rows if row.lazy) == len(whole)


LARGE = {f"field{letter}": {f"inner{other}": {"x": 1} for other in "abcdefghijkl"} for letter in "abc"}


def test_what_is_beneath_a_large_place_is_left_for_when_it_is_opened():
    whole = list(nodes(infer(LARGE), observations=1))
    rows, _ = build_rows(whole, limit=1000)
    assert [(row.pointer, row.lazy) for row in rows] == [
        ("", False), ("/fielda", True), ("/fieldb", True), ("/fieldc", True)
    ]  # fmt: skip
    assert balanced(rows)
    inside, _ = build_rows(whole, pointer="/fieldb", inside_only=True, limit=1000)
    assert len(inside) == rows[2].size >= CLOSED_FROM
    assert {row.pointer.split("/")[1] for row in inside} == {"fieldb"}
    assert balanced(inside)
    alone, _ = build_rows(whole, pointer="/fieldb", limit=1000)
    assert alone[0].pointer == "/fieldb"
    assert balanced(alone)


def test_more_rows_than_a_page_shows_are_cut_and_still_close():
    rows, is_cut = build_rows(list(nodes(infer(LARGE["fielda"]), observations=1)), limit=5)
    assert (len(rows), is_cut) == (5, True)
    assert balanced(rows)


def test_a_place_that_does_not_exist_shows_the_whole():
    rows, _ = build_rows(list(nodes(infer({"a": 1}), observations=1)), pointer="/nothing", limit=9)
    assert [row.pointer for row in rows] == ["", "/a"]


@given(VALUES)
def test_no_two_nodes_have_one_pointer(value):
    pointers = [node.pointer for node in nodes(infer(value), observations=1)]
    assert len(set(pointers)) == len(pointers)
