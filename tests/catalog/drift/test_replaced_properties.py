"""A new property of the same shape replaces one that is no longer seen, if there is only one such."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from catalog.change_kinds import NO_LONGER_SEEN
from catalog.drift.presence.enough_observations import ENOUGH
from tests.catalog.drift.presence.fold_batches import fold_batches

WITH = {"id": 1, "note": "x"}
RENAMED = {"id": 1, "remark": "x"}
OLD = {"id": 1, "name": "x", "gone": "y"}
BEFORE, AFTER, BOTH, NEITHER = {"pages": 1}, {"pageCount": 1}, {"pages": 1, "pageCount": 1}, {"id": 1}


def list_successors(*batches: list[Any]) -> list[str]:
    """Return the new name, or "", that is reported for each property no longer seen. Batches are a day apart."""
    return [event.successor for _, event in fold_batches(batches, days=True) if event.kind == NO_LONGER_SEEN]


def test_a_new_property_of_the_same_shape_is_reported_as_the_replacement():
    assert list_successors([WITH] * 50, [RENAMED] * 20) == ["remark"]


def test_an_older_property_or_another_shape_or_one_of_two_candidates_is_no_replacement():
    assert list_successors([{**WITH, "remark": "y"}] * 50, [RENAMED] * 20) == [""]
    assert list_successors([WITH] * 50, [{"id": 1, "remark": 1}] * 20) == [""]
    assert list_successors([WITH] * 50, [{**RENAMED, "comment": "y"}] * 20) == [""]


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
