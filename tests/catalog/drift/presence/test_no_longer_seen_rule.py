"""A property is reported once as no longer seen, judged by how rare and irregular it usually is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import Evidence, infer
from catalog.drift.presence.no_longer_seen_rule import (
    ENOUGH,
    NO_LONGER_SEEN,
    NOT_ALWAYS,
    SEEN_AGAIN,
    Absence,
    AbsenceEvent,
    update_absences,
)
from catalog.drift.presence.probably_gone_rule import is_unusual

WITH, WITHOUT = {"id": 1, "note": "x"}, {"id": 1}


def fold_batches(batches: Iterable[list[Any]], *, days: bool = False) -> list[tuple[int, AbsenceEvent]]:
    """Return the events, each with the number of the batch that caused it.

    days: batches are a day apart.
    """
    total, absences, numbered_events = Evidence(), {}, []
    for number, batch in enumerate(batches):
        added = Evidence()
        for value in batch:
            added.add(infer(value, day=number if days else None))
        total.add(added)
        new_absences, events = update_absences(absences, total, added)
        absences = json.loads(json.dumps(new_absences))
        numbered_events += [(number, event) for event in events]
    return numbered_events


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


RENAMED = {"id": 1, "remark": "x"}


def list_successors(*batches: list[Any]) -> list[str]:
    """Return the new name, or "", that is reported for each property no longer seen. Batches are a day apart."""
    return [event.successor for _, event in fold_batches(batches, days=True) if event.kind == NO_LONGER_SEEN]


def test_a_new_property_of_the_same_shape_is_reported_as_the_replacement():
    assert list_successors([WITH] * 50, [RENAMED] * 20) == ["remark"]


def test_an_older_property_or_another_shape_or_one_of_two_candidates_is_no_replacement():
    assert list_successors([{**WITH, "remark": "y"}] * 50, [RENAMED] * 20) == [""]
    assert list_successors([WITH] * 50, [{"id": 1, "remark": 1}] * 20) == [""]
    assert list_successors([WITH] * 50, [{**RENAMED, "comment": "y"}] * 20) == [""]


OLD = {"id": 1, "name": "x", "gone": "y"}


BEFORE, AFTER, BOTH, NEITHER = {"pages": 1}, {"pageCount": 1}, {"pages": 1, "pageCount": 1}, {"id": 1}


@given(st.lists(st.lists(st.sampled_from([BEFORE, AFTER]), min_size=1, max_size=30), max_size=6), st.booleans())
def test_a_rename_is_found_even_if_old_and_new_versions_overlap(rollout, days):
    batches = [[BEFORE] * 100, *rollout, [AFTER] * 2000]
    successors = [event.successor for _, event in fold_batches(batches, days=days) if event.kind == NO_LONGER_SEEN]
    assert successors[-1:] == ["pageCount"]


@given(st.lists(st.sampled_from([BEFORE, AFTER]), max_size=30), st.sampled_from([BOTH, NEITHER]), st.integers(0, 30))
def test_a_property_that_appeared_together_with_the_old_one_or_after_a_gap_is_no_replacement(
    rollout, exception, position
):
    """A single object with both properties, or with neither, shows that one did not replace the other."""
    mixed = [BEFORE, AFTER, *rollout]
    mixed.insert(min(position, len(mixed)), exception)
    assert list_successors([BEFORE] * 100, mixed, [AFTER] * 2000) == [""]


def test_two_properties_that_alternated_from_the_beginning_are_no_rename():
    assert list_successors([BEFORE, AFTER] * 50, [AFTER] * 500) == [""]
    assert list_successors([BEFORE] * (ENOUGH // 2), [BEFORE, AFTER] * 5, [AFTER] * 500) == [""]


def test_of_two_vanished_properties_the_one_with_the_more_similar_name_is_the_renamed_one():
    assert list_successors([OLD] * 50, [{"id": 1, "fullName": "x"}] * 20) == ["fullName", ""]
    reordered = {"id": 1, "gone": "y", "name": "x"}
    assert list_successors([reordered] * 50, [{"id": 1, "fullName": "x"}] * 20) == ["", "fullName"]


def test_with_two_equally_similar_names_neither_is_the_renamed_one():
    assert list_successors([{"id": 1, "xa": "x", "ya": "y"}] * 50, [{"id": 1, "za": "x"}] * 20) == ["", ""]


def test_a_replacement_is_not_reported_a_second_time_for_another_property():
    bare, later = {"id": 1, "name": "x"}, [{"id": 1, "fullName": "x"}] * 20
    days = [[bare, OLD] * 12, [bare, OLD] * 13, later, later]
    assert list_successors(*days) == ["fullName", ""]


def test_a_vanished_property_does_not_replace_another():
    rare = {"id": 1, "gone": "y"}
    assert list_successors([{"id": 1}] * 25 + [rare] * 25, [{"id": 1}] * 50) == [""]


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


@pytest.mark.parametrize("stored", [[3], [3, 40, 1], [3, 40, 0, "remark"], [3, 40, 1, "", 7, 9]])
def test_stored_counters_of_earlier_versions_can_be_read(stored):
    absence = Absence.from_state(stored)
    assert absence.to_state() == stored + Absence().to_state()[len(stored) :]
    assert (absence.absent, absence.is_reported) == (3, stored[2:3] == [1])


def test_a_property_no_longer_seen_in_counters_of_an_earlier_version_can_be_seen_again():
    counters, events = update_absences({"/note": [30, 0, 1, "", 0, 0]}, infer(WITH), infer(WITH))
    assert [event.kind for event in events] == [SEEN_AGAIN]
    assert counters == {"/note": [0, 30, 0, "", 0, 0, 0]}


@given(
    st.integers(1, 1000).flatmap(lambda before: st.tuples(st.just(before), st.integers(0, before))), st.integers(1, 300)
)
def test_an_absence_is_unusual_only_if_it_hardly_comes_by_chance(counts, absent):
    objects_before, seen = counts
    chance = ((objects_before - seen) / objects_before) ** absent
    if abs(chance - 0.01) > 1e-9:
        assert is_unusual(Absence(absent), seen, objects_before + absent) is (chance < 0.01)
    assert not is_unusual(Absence(absent, longest=absent), seen, objects_before + absent)
