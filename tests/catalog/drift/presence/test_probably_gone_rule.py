"""An absence is unusual, and a property probably gone, only if that is hardly chance."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from catalog.drift.presence.absence_counters import Absence
from catalog.drift.presence.probably_gone_rule import is_unusual


@given(
    st.integers(1, 1000).flatmap(lambda before: st.tuples(st.just(before), st.integers(0, before))), st.integers(1, 300)
)
def test_an_absence_is_unusual_only_if_it_hardly_comes_by_chance(counts, absent):
    objects_before, seen = counts
    chance = ((objects_before - seen) / objects_before) ** absent
    if abs(chance - 0.01) > 1e-9:
        assert is_unusual(Absence(absent), seen, objects_before + absent) is (chance < 0.01)
    assert not is_unusual(Absence(absent, longest=absent), seen, objects_before + absent)
