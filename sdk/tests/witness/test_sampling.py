"""Which requests of one operation are inspected: all until nothing new is seen, then fewer and fewer."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit._witness.sampling import AT_LEAST_EVERY, LONGEST_STRIDE, SETTLED, Pace


@given(st.floats(0.0001, 0.01))
def test_of_a_busy_settled_operation_at_most_ten_requests_a_second_are_inspected(apart):
    pace = Pace()
    for _ in range(10 * SETTLED):
        pace.adjust(news=False)
    looks = [number * apart for number in range(5000) if pace.admits(number * apart)]
    assert all(later - sooner > 0.0999 for sooner, later in pairwise(looks))
    assert len(looks) >= 5000 * apart / (max(0.1, LONGEST_STRIDE * apart) + apart) - 1
    pace.adjust(news=True)
    assert all(pace.admits(5000 * apart) for _ in range(100))


@given(st.integers(0, 5000), st.floats(0.01, 5))
def test_of_a_settled_shape_every_64th_request_or_one_a_minute_is_inspected(quiet, apart):
    pace = Pace()
    for _ in range(quiet):
        pace.adjust(news=False)
    looks, now = [], 0.0
    for _ in range(1000):
        now += apart
        if pace.admits(now):
            looks.append(now)
    longest = max(later - sooner for sooner, later in zip(looks, [*looks[1:], now], strict=True))
    assert longest <= min(LONGEST_STRIDE * apart, AT_LEAST_EVERY + apart) + 1e-6
    assert len(looks) == 1000 if quiet < SETTLED else len(looks) < 1000


@pytest.mark.parametrize("looks", [0, SETTLED, 10 * SETTLED])
def test_after_news_every_request_is_inspected(looks):
    pace = Pace()
    for _ in range(looks):
        pace.adjust(news=False)
    pace.adjust(news=True)
    assert all(pace.admits(0.0) for _ in range(100))
