"""Searching a tree by words keeps matching properties and the branches above them."""

from hypothesis import given
from hypothesis import strategies as st

from affidavit import infer
from catalog.browse.operation.tree_search import find_nodes, find_search_example
from catalog.evidence.nodes import list_nodes

TREES = st.recursive(
    st.just(1), lambda inner: st.dictionaries(st.sampled_from(["a", "b", "ab", "c"]), inner, max_size=3), max_leaves=8
)


def read_nodes(body):
    return list(list_nodes(infer(body), observations=1))


@given(TREES, st.sampled_from(["a", "b", "c", "ab", "x", "a:integer"]))
def test_exactly_the_matching_nodes_and_the_branches_above_are_kept_in_order(body, word):
    nodes = read_nodes(body)
    matches = find_nodes(nodes, [word])
    expected = {node.pointer for node in nodes if node.depth and word in f"{node.name}:{node.type}"}
    assert matches.pointers == expected
    above = {"" for _ in expected} | {
        pointer[:end] for pointer in expected for end in range(len(pointer)) if pointer[end] == "/"
    }
    assert [node.pointer for node in matches.nodes] == [
        node.pointer for node in nodes if node.pointer in expected | above
    ]


def test_a_property_of_exactly_the_searched_name_and_type_is_first():
    nodes = read_nodes({"subtotal": 1.5, "deep": {"total": 1.5}})
    assert find_nodes(nodes, ["total:number"]).best == "/deep/total"
    assert find_nodes(nodes, ["nowhere"]).best == ""


@given(TREES)
def test_the_example_of_a_search_finds_a_property(body):
    nodes = read_nodes(body)
    example = find_search_example(nodes)
    assert bool(example) == any(node.main_type == "integer" for node in nodes if not node.is_nameless)
    assert not example or find_nodes(nodes, [example]).best
