"""Gone quiet, by a property's usual rate: told once, and never of one that is as rare or as irregular as ever."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import Evidence, infer
from catalog.silence import listen

WITH, WITHOUT = {"id": 1, "note": "x"}, {"id": 1}


def heard(batches: Iterable[list[Any]]) -> list[tuple[int, str, bool]]:
    """What is told after which batch: pointer, and whether it went quiet."""
    total, held, told = Evidence(), {}, []
    for number, batch in enumerate(batches):
        added = Evidence()
        for value in batch:
            added.add(infer(value))
        total.add(added)
        held, news = listen(held, total, added)
        told += [(number, one.pointer, bool(one.missed)) for one in news]
    return told


def test_what_was_always_there_is_quiet_after_twenty_objects_without_it_and_told_once():
    assert heard([[WITH] * 100, [WITHOUT] * 19, [WITHOUT], [WITHOUT] * 1000]) == [(2, "/note", True)]


def test_what_was_rare_has_to_be_missing_for_longer():
    rare = [[WITH] + [WITHOUT] * 99] * 10
    assert heard([*rare, [WITHOUT] * 1900]) == []
    assert heard([*rare, [WITHOUT] * 2100]) == [(10, "/note", True)]


def test_what_comes_in_bursts_is_quiet_only_when_longer_than_ever():
    weeks = [[WITHOUT] * 600, [WITH] * 100] * 5
    assert heard([[WITH] * 100, *weeks]) == [(1, "/note", True), (2, "/note", False)]


def test_what_comes_back_is_told_and_may_go_quiet_again():
    batches = [[WITH] * 50, [WITHOUT] * 30, [WITH], [WITHOUT] * 60, [WITHOUT] * 40]
    assert heard(batches) == [(1, "/note", True), (2, "/note", False), (4, "/note", True)]


def test_only_the_outermost_place_is_told():
    full, bare = {"id": 1, "customer": {"name": "x", "phone": "y"}}, {"id": 1}
    assert heard([[full] * 30, [bare] * 30]) == [(1, "/customer", True)]


def test_places_in_lists_and_maps_are_heard_too():
    full = {"lines": [{"sku": "x"}, {"sku": "y", "gift": True}], "by": {"17": {"a": 1, "b": 1}}}
    bare = {"lines": [{"sku": "x"}, {"sku": "y"}], "by": {"17": {"a": 1}}}
    assert {pointer for _, pointer, _ in heard([[full] * 20, [bare] * 100])} == {"/lines/[]/gift", "/by/{}/b"}


@pytest.mark.parametrize("other", [None, [], "text", 7])
def test_a_body_of_another_type_says_nothing_of_a_property(other):
    assert heard([[WITH] * 10, [other] * 10_000]) == []


RENAMED = {"id": 1, "remark": "x"}


def named_since(*batches: list[Any]) -> list[str]:
    """The successors that are told of what went quiet, of batches that come a day after another."""
    total, held, told = Evidence(), {}, []
    for day, batch in enumerate(batches):
        added = Evidence()
        for value in batch:
            added.add(infer(value, day=day))
        total.add(added)
        held, news = listen(held, total, added)
        told += [one.successor for one in news if one.missed]
    return told


def test_a_property_of_the_same_shape_that_came_when_it_went_is_named_beside_it():
    assert named_since([WITH] * 50, [RENAMED] * 20) == ["remark"]


def test_nothing_is_named_that_was_there_before_or_has_another_shape_or_is_one_of_two():
    assert named_since([{**WITH, "remark": "y"}] * 50, [RENAMED] * 20) == [""]
    assert named_since([WITH] * 50, [{"id": 1, "remark": 1}] * 20) == [""]
    assert named_since([WITH] * 50, [{**RENAMED, "comment": "y"}] * 20) == [""]


@given(st.lists(st.lists(st.sampled_from([WITH, WITHOUT]), min_size=1, max_size=30), max_size=30))
def test_quiet_and_seen_again_take_turns(batches):
    told = heard(batches)
    assert [quiet for _, _, quiet in told] == [index % 2 == 0 for index in range(len(told))]
