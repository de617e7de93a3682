"""A property is reported once as no longer seen, judged by how rare and irregular it usually is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.change_kinds import NO_LONGER_SEEN, NOT_ALWAYS, SEEN_AGAIN
from catalog.drift.presence.enough_observations import ENOUGH
from tests.catalog.drift.presence.fold_batches import fold_batches

WITH, WITHOUT = {"id": 1, "note": "x"}, {"id": 1}


def list_absences(batches: Iterable[list[Any]]) -> list[tuple[int, str, bool]]:
    """Return batch number, pointer, and whether the absence began (else it ended), for each event of an absence."""
    return [
        (number, event.pointer, event.kind == NO_LONGER_SEEN)
        for number, event in fold_batches(batches)
        if event.kind in (NO_LONGER_SEEN, SEEN_AGAIN)
    ]


def list_not_always(*batches: list[Any]) -> list[tuple[int, str, int, int, int]]:
    """Return batch, pointer, `always`, `seen` and `of` of each event of a property that is no longer always seen."""
    events = [(number, event) for number, event in fold_batches(batches) if event.kind == NOT_ALWAYS]
    return [(number, event.pointer, event.always, event.seen, event.of) for number, event in events]


def test_a_property_that_was_always_present_is_no_longer_seen_after_twenty_objects_without_it():
    assert list_absences([[WITH] * 100, [WITHOUT] * 19, [WITHOUT], [WITHOUT] * 1000]) == [(2, "/note", True)]


def test_a_rare_property_is_no_longer_seen_only_after_many_more_objects():
    rare = [[WITH] + [WITHOUT] * 99] * 10
    assert list_absences([*rare, [WITHOUT] * 1900]) == []
    assert list_absences([*rare, [WITHOUT] * 2100]) == [(10, "/note", True)]


def test_a_property_that_comes_in_bursts_is_no_longer_seen_only_after_its_longest_gap():
    weeks = [[WITHOUT] * 600, [WITH] * 100] * 5
    assert list_absences([[WITH] * 100, *weeks]) == [(1, "/note", True), (2, "/note", False)]


def test_a_property_seen_again_is_reported_and_may_disappear_again():
    batches = [[WITH] * 50, [WITHOUT] * 30, [WITH], [WITHOUT] * 60, [WITHOUT] * 40]
    assert list_absences(batches) == [(1, "/note", True), (2, "/note", False), (4, "/note", True)]


def test_only_the_outermost_missing_node_is_reported():
    full, bare = {"id": 1, "customer": {"name": "x", "phone": "y"}}, {"id": 1}
    assert list_absences([[full] * 30, [bare] * 30]) == [(1, "/customer", True)]


def test_properties_in_lists_and_maps_are_watched_too():
    full = {"lines": [{"sku": "x"}, {"sku": "y", "gift": True}], "by": {"17": {"a": 1, "b": 1}}}
    bare = {"lines": [{"sku": "x"}, {"sku": "y"}], "by": {"17": {"a": 1}}}
    assert {pointer for _, pointer, _ in list_absences([[full] * 20, [bare] * 100])} == {"/lines/[]/gift", "/by/{}/b"}


@pytest.mark.parametrize("other", [None, [], "text", 7])
def test_bodies_of_another_type_do_not_count_as_missing_the_property(other):
    assert list_absences([[WITH] * 10, [other] * 10_000]) == []


def test_a_property_no_longer_always_seen_is_reported_once_with_its_numbers():
    half = [WITH, WITHOUT]
    assert list_not_always([WITH] * 500, half * 250, *[half * 50] * 5) == [(1, "/note", 500, 250, 500)]


def test_a_property_that_disappears_is_not_also_reported_as_no_longer_always_seen():
    assert list_not_always([WITH] * 500, [WITHOUT] * 3, [WITH] * 7) == [(2, "/note", 500, 7, 10)]
    assert list_not_always([WITH] * 500, [WITHOUT] * 500) == []
    assert list_not_always([WITH] * 500, [WITHOUT] * 500, [WITH], [WITH, WITHOUT] * 50) == []


def test_a_property_seen_too_rarely_or_missing_before_is_not_reported():
    assert list_not_always([WITH] * (ENOUGH - 1), [WITH, WITHOUT]) == []
    assert list_not_always([WITH] * ENOUGH, [WITH, WITHOUT]) == [(1, "/note", ENOUGH, 1, 2)]
    assert list_not_always([WITH] * 500 + [WITHOUT], [WITH] * 500, [WITH, WITHOUT]) == []


def test_a_later_property_is_judged_from_the_batch_after_its_first_one():
    later = [[WITHOUT] * 100, [WITHOUT] * 5 + [WITH] * 50]
    assert list_not_always(*later, [WITH] * 30, [WITH, WITHOUT]) == [(3, "/note", 30, 1, 2)]
    assert list_not_always(*later, [WITH, WITHOUT] * 50, [WITH, WITHOUT] * 50) == []


def test_inner_properties_are_judged_by_how_often_their_object_was_present():
    full, bare = {"lines": [{"sku": "x", "gift": 1}]}, {"lines": [{"sku": "x"}]}
    assert list_not_always([full] * 30, [full, bare, {}]) == [(1, "/lines", 30, 2, 3), (1, "/lines/[]/gift", 30, 1, 2)]


@given(st.lists(st.lists(st.sampled_from([WITH, WITHOUT]), min_size=1, max_size=40), max_size=20))
def test_no_longer_always_seen_is_reported_at_most_once_and_only_after_enough_objects_with_the_property(batches):
    events = list_not_always(*batches)
    assert len(events) <= 1
    for number, _, always, seen, of in events:
        before = [value for batch in batches[:number] for value in batch]
        assert always >= ENOUGH
        assert (before.count(WITH), seen < of) == (always + count_in_first_batch(batches), True)


def count_in_first_batch(batches: list[list[Any]]) -> int:
    """Return how often the property occurs in the first batch that has it; 0 if that is the first batch of all."""
    with_it = [batch.count(WITH) for batch in batches]
    first = next(index for index, count in enumerate(with_it) if count)
    return with_it[first] if first else 0


@given(st.lists(st.lists(st.sampled_from([WITH, WITHOUT]), min_size=1, max_size=30), max_size=30))
def test_no_longer_seen_and_seen_again_alternate(batches):
    events = list_absences(batches)
    assert [quiet for _, _, quiet in events] == [index % 2 == 0 for index in range(len(events))]
