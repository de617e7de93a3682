"""What share of broken joins will still heal, by those that healed so far."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcomes.broken_joins.healed_joins import estimate_healing

NUMBERS = st.integers(0, 100_000)
SHARES = st.floats(0, 1)


@given(SHARES, NUMBERS, NUMBERS)
def test_a_share_of_broken_joins_that_will_heal_is_between_none_and_all(pending, healed, broken):
    share = estimate_healing(pending, healed, broken)
    assert 0 <= share <= 1
    assert share == 0 or (healed and pending)


@given(SHARES, st.integers(1, 1000), st.integers(1, 1000))
def test_more_broken_joins_will_heal_if_more_have_healed_or_are_young(pending, healed, broken):
    share = estimate_healing(pending, healed, broken)
    assert estimate_healing(pending, healed + 1, broken) >= share
    assert estimate_healing(pending, healed, broken + 1) <= share
    assert estimate_healing(1, healed, broken) >= share
    # For joins that have not waited at all, the share that will heal is the share of all joins that healed.
    assert estimate_healing(1, healed, broken) == pytest.approx(healed / (healed + broken))


def test_without_a_broken_join_nothing_is_still_to_heal():
    assert estimate_healing(0.0, 5, 0) == 0.0
