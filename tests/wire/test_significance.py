"""The chance of a run agrees with a count of all possible orders, and with obvious cases."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.significance import chance_of_run

COUNTS = st.integers(1, 9).flatmap(
    lambda total: st.tuples(st.integers(0, total), st.integers(0, total), st.just(total))
)


@given(COUNTS)
def test_the_chance_of_a_run_is_the_share_of_all_orders_that_end_with_it(counts):
    missing, present, total = counts
    orders = list(combinations(range(total), present))
    ending = [order for order in orders if all(place < total - missing for place in order)]
    assert chance_of_run(missing, present, total) == pytest.approx(len(ending) / len(orders))


@given(st.integers(1, 500), st.integers(1, 30))
def test_a_longer_run_is_less_probable_and_more_so_after_more_cases(before, missing):
    """One more missing case makes the run less probable, and so does one more present case before it."""
    chance = chance_of_run(missing, before, before + missing)
    assert 0 < chance < 1
    assert chance_of_run(missing + 1, before, before + missing + 1) < chance
    assert chance_of_run(missing, before + 1, before + 1 + missing) < chance
