"""A period is split into phases at its annotations, and a rate is compared between one phase and the next."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.time.period import QUARTER
from workspaces.annotations.phase_comparison import Phase, PhaseChange, pair_with_previous, split_at_annotations

START = datetime(2026, 11, 1, tzinfo=UTC)
END = START + timedelta(days=2)
QUARTERS = st.integers(-4, 200).map(lambda number: START + number * QUARTER)
MOMENTS = st.datetimes(datetime(2026, 10, 31), datetime(2026, 11, 4), timezones=st.just(UTC)) | QUARTERS
SIZES = st.integers(0, 2000).flatmap(lambda total: st.tuples(st.just(total), st.integers(0, total)))


@given(st.lists(MOMENTS, max_size=12).map(sorted))
def test_each_quarter_hour_without_an_annotation_inside_belongs_to_one_phase_and_the_others_to_none(moments):
    phases = split_at_annotations(START, END, [(moment, "release") for moment in moments])
    for number in range((END - START) // QUARTER):
        quarter = START + number * QUARTER
        is_mixed = any(quarter < moment < quarter + QUARTER for moment in moments)
        holders = [phase for phase in phases if phase.start <= quarter and quarter + QUARTER <= phase.end]
        touched = [phase for phase in phases if phase.start < quarter + QUARTER and quarter < phase.end]
        assert (len(holders), len(touched)) == ((0, 0) if is_mixed else (1, 1))


@given(st.lists(MOMENTS, max_size=12).map(sorted))
def test_each_annotation_begins_the_first_phase_after_it(moments):
    annotations = [(moment, f"release {number}") for number, moment in enumerate(moments)]
    phases = split_at_annotations(START, END, annotations)
    for moment, text in annotations:
        first = [next(phase for phase in phases if phase.start >= moment)] if moment < END else []
        assert [phase for phase in phases if text in phase.texts] == first


def test_an_annotation_of_the_last_quarter_hour_begins_a_phase_that_is_ahead():
    moment = END - timedelta(minutes=4)
    earlier, ahead = split_at_annotations(START, END, [(moment, "release")])
    assert (earlier.start, earlier.end, earlier.is_ahead) == (START, END - QUARTER, False)
    assert (ahead.start, ahead.texts, ahead.annotated_at, ahead.is_ahead) == (END, ["release"], moment, True)


def test_a_quarter_hour_with_an_annotation_at_its_start_and_another_inside_belongs_to_no_phase():
    inside = START + timedelta(minutes=5)
    (phase,) = split_at_annotations(START, END, [(START, "release"), (inside, "campaign")])
    assert (phase.start, phase.texts, phase.annotated_at) == (
        START + timedelta(minutes=15),
        ["release", "campaign"],
        START,
    )


@pytest.mark.parametrize(
    ("before", "after", "points", "is_within_chance"),
    [
        ((1000, 250), (1000, 251), 0.1, True),
        ((1000, 250), (1000, 300), 5.0, False),
        ((20, 5), (20, 6), 5.0, True),
        ((1000, 0), (1000, 0), 0.0, True),
        ((1000, 1000), (1000, 1000), 0.0, True),
        ((0, 0), (20, 6), None, False),
        ((20, 6), (0, 0), None, False),
    ],
)
def test_a_small_change_or_one_in_small_samples_may_be_chance(before, after, points, is_within_chance):
    change = PhaseChange(Phase(START, END, [], *after), Phase(START, END, [], *before))
    assert change.points == (None if points is None else pytest.approx(points))
    assert change.is_within_chance == is_within_chance


def test_the_first_phase_has_no_change():
    change = PhaseChange(Phase(START, END, [], 10, 5), None)
    assert change.points is None
    assert not change.is_within_chance


@given(st.lists(SIZES, max_size=6))
def test_each_phase_is_compared_with_the_one_before_it(sizes):
    pairs = pair_with_previous([Phase(START, END, [], *size) for size in sizes])
    assert [(phase.total, phase.count) for phase, _ in pairs] == sizes
    assert [previous for _, previous in pairs] == [None, *(phase for phase, _ in pairs)][: len(sizes)]


@given(SIZES, SIZES, st.floats(0, 1))
def test_only_what_can_be_compared_is_too_early_or_chance(size, previous_size, pending):
    change = PhaseChange(Phase(START, END, [], *size), Phase(START, END, [], *previous_size), pending)
    swapped = PhaseChange(Phase(START, END, [], *previous_size), Phase(START, END, [], *size), pending)
    if size[0] and previous_size[0]:
        assert change.points == pytest.approx(-swapped.points)
        assert change.is_within_chance == swapped.is_within_chance
        assert change.is_too_early == (pending > 0.1)
    else:
        assert (change.points, change.is_within_chance, change.is_too_early) == (None, False, False)
