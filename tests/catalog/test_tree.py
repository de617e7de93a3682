"""A shape as rows: every node once, with its evidence, and nothing that is not so."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from affidavit import Evidence, infer
from catalog.tree import Node, folding, nodes

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=3), inner, max_size=4),
    max_leaves=20,
)


def rows_of(*values: object) -> dict[str, Node]:
    evidence = Evidence()
    for value in values:
        evidence.add(infer(value, day=20_000))
    return {node.pointer: node for node in nodes(evidence, observations=len(values))}


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


@given(VALUES)
def test_every_fold_that_opens_also_closes_and_holds_what_is_beneath(value):
    rows = folding(list(nodes(infer(value), observations=1)))
    open_folds: list[Node] = []
    for row in rows:
        assert row.depth == len(open_folds)
        if row.opens:
            open_folds.append(row)
        del open_folds[len(open_folds) - row.closes :]
    assert open_folds == []
    assert rows[0].size == len(rows) - 1


@given(VALUES)
def test_no_two_nodes_have_one_pointer(value):
    pointers = [node.pointer for node in nodes(infer(value), observations=1)]
    assert len(set(pointers)) == len(pointers)
