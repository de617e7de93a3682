"""An absence is unusual, and a property probably gone, only if that is hardly chance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.drift.presence.absence_counters import Absence
from catalog.drift.presence.probably_gone_rule import CHANCE, LEAST, is_probably_gone, is_unusual
from wire.significance import chance_of_run


@given(
    st.integers(1, 1000).flatmap(lambda before: st.tuples(st.just(before), st.integers(0, before))), st.integers(1, 300)
)
def test_an_absence_is_unusual_only_if_it_hardly_comes_by_chance(counts, absent):
    objects_before, seen = counts
    chance = ((objects_before - seen) / objects_before) ** absent
    if abs(chance - 0.01) > 1e-9:
        assert is_unusual(Absence(absent), seen, objects_before + absent) is (chance < 0.01)
    assert not is_unusual(Absence(absent, longest=absent), seen, objects_before + absent)


@given(st.integers(1, 400), st.integers(1, 40))
def test_whether_a_property_that_was_always_present_is_gone_is_judged_by_chance(present, absent):
    """After three hundred objects with the property, three without it are enough. Two are never enough."""
    objects = present + absent
    is_gone = is_probably_gone(Absence(absent), present, objects)
    assert is_gone is (absent >= LEAST and chance_of_run(absent, present, objects) < CHANCE)
    if is_gone:
        assert is_probably_gone(Absence(absent + 1), present, objects + 1)
        assert is_unusual(Absence(absent), present, objects)
        assert not is_probably_gone(Absence(absent, longest=absent), present, objects)


@pytest.mark.parametrize(
    ("present", "absent", "is_gone"), [(300, 3, True), (300, 2, False), (5, 3, False), (346, 16, True)]
)
def test_how_many_absences_are_enough(present, absent, is_gone):
    assert is_probably_gone(Absence(absent), present, present + absent) is is_gone
