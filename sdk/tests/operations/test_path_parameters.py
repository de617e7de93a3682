"""The parameters of an operation's path: the names and types that are shown, and the identity without names."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.operations import choose_names, fill_names, merge_parameter_types, strip_names


def test_the_name_observed_most_often_is_shown_and_ties_go_by_code_point():
    assert choose_names([Counter(orderId=3, id=2), Counter(b=1, a=1), Counter(Z=1, a=1)]) == [
        "orderId",
        "a",
        "Z",
    ]


def test_a_name_occurs_only_once_in_a_path():
    assert choose_names([Counter(id=3, order=1), Counter(id=2, item=1), Counter(id=9)]) == [
        "id",
        "item",
        "id2",
    ]


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(1, 3), min_size=1), max_size=6))
def test_shown_names_never_clash(positions: list[dict[str, int]]):
    names = choose_names([Counter(position) for position in positions])
    assert len(set(names)) == len(positions)
    assert fill_names("/x".join(["/y", *["{}"] * len(names)]), names).count("{") == len(names)


@pytest.mark.parametrize(
    ("types", "shown"),
    [
        (["integer"], "integer"),
        (["integer", "number"], "number"),
        (["integer", "string"], "string"),
        (["unknown", "integer"], "integer"),
        (["unknown"], "unknown"),
        ([], "unknown"),
    ],
)
def test_a_parameter_has_one_type(types, shown):
    assert merge_parameter_types(types) == shown


def test_a_template_without_names_keeps_its_literals():
    assert strip_names("/a/{b}/c{d}.json") == "/a/{}/c{}.json"
