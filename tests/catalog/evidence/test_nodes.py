"""The nodes of a shape: each is listed once, with its evidence."""

from __future__ import annotations

from datetime import date

from hypothesis import given

from affidavit import Evidence, infer
from catalog.evidence.nodes import Node, list_nodes
from tests.catalog.json_values import VALUES


def nodes_of(*values: object) -> dict[str, Node]:
    evidence = Evidence()
    for value in values:
        evidence.add(infer(value, day=20_000))
    return {node.pointer: node for node in list_nodes(evidence, observations=len(values))}


def test_a_property_is_counted_among_the_times_its_parent_was_an_object():
    """Its presence is the share of these times in which it was there."""
    nodes = nodes_of({"a": {"b": 1}}, {"a": {}}, {"a": None}, {})
    assert (nodes["/a"].seen, nodes["/a"].parents, nodes["/a"].presence) == (3, 4, 0.75)
    assert (nodes["/a/b"].seen, nodes["/a/b"].parents) == (1, 2)
    assert nodes["/a"].nulls == 1


def test_different_types_are_counted():
    nodes = nodes_of({"a": 1}, {"a": "x"}, {"a": "y"}, {"a": None})
    assert (nodes["/a"].type, nodes["/a"].main_type, nodes["/a"].reason) == ("integer or string", "unknown", "")
    assert nodes["/a"].types == {"integer": 1, "string": 2, "null": 1}


def test_arrays_and_maps_name_the_type_of_their_items():
    nodes = nodes_of({"list": [{"id": 1}], "none": [], "map": {"4f1c2d3e-9a53-4b7e-8f5a-0f4f0c6f6b11": "x"}, "o": {}})
    assert nodes["/list"].type == "array of object"
    assert nodes["/list/[]/id"].type == "integer"
    assert (nodes["/none"].type, nodes["/none"].reason) == ("array of unknown", "always empty so far")
    assert nodes["/map"].type == "map of string"
    assert (nodes["/o"].type, nodes["/o"].reason) == ("unknown", "always {} so far")


def test_several_types_of_items_are_named():
    assert nodes_of({"a": [1, "x"]})["/a"].type == "array of (integer or string)"
    assert nodes_of({"a": [1, "x"]})["/a/[]"].type == "integer or string"


def test_a_node_has_its_first_and_last_day_and_whether_it_is_sensitive():
    nodes = nodes_of({"password": "x"})
    assert nodes["/password"].redacted
    assert nodes["/password"].first_day == nodes["/password"].last_day == date(2024, 10, 4)


@given(VALUES)
def test_no_two_nodes_have_the_same_pointer(value):
    pointers = [node.pointer for node in list_nodes(infer(value), observations=1)]
    assert len(set(pointers)) == len(pointers)
