"""A pointer into a shape says exactly which node it means."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from affidavit import infer
from catalog.evidence.tree import walk_nodes
from catalog.shape_pointers import ITEMS, VALUES, is_within, property_name, split_pointer
from tests.catalog.evidence.visible_parts import NAMES, join_pointer, values


@given(values, st.lists(st.sampled_from(NAMES), max_size=3))
def test_a_pointer_leads_back_to_its_steps(value, path):
    steps = split_pointer(join_pointer(path))
    assert [property_name(step) for step in steps] == path
    assert not {ITEMS, VALUES} & set(steps)
    for pointer, _ in walk_nodes(infer(value), observations=None):
        assert is_within(pointer, "")
