"""A reason is named if its growth, or that of all rejections, is more than chance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents.rejections.growth.growth_of_share import Growth, find_reason_growth

RESULTS = st.dictionaries(st.sampled_from(["accepted", "", "expired", "replayed", "malformed"]), st.integers(0, 2000))


@pytest.mark.parametrize(
    ("previous_counts", "counts", "name", "is_within_chance"),
    [
        ({"accepted": 990, "expired": 10}, {"accepted": 960, "expired": 40}, "expired", False),
        ({"accepted": 990, "expired": 10}, {"accepted": 97, "expired": 3}, None, None),  # 3 of 100 may be chance
        ({"accepted": 990, "expired": 10}, {"accepted": 1980, "expired": 20}, None, None),  # twice as many calls
        (
            {"accepted": 900, "expired": 100},
            {"accepted": 900, "replayed": 100},
            "replayed",
            False,
        ),  # the rate of all reasons is steady
        ({"accepted": 500, "expired": 500}, {"accepted": 465, "expired": 520, "replayed": 15}, "replayed", False),
        ({"accepted": 1000}, {"accepted": 997, "replayed": 3}, None, None),  # too few
        ({"accepted": 1000}, {"accepted": 991, "expired": 5, "replayed": 4}, None, None),  # too few, even together
        ({"accepted": 1000}, {"accepted": 985, "expired": 8, "replayed": 7}, "expired", True),  # together enough
        ({"accepted": 1000}, {"accepted": 986, "expired": 7, "replayed": 7}, None, None),  # two grew equally
        ({"accepted": 900, "expired": 100}, {"accepted": 991, "replayed": 9}, None, None),  # rejections fell
        ({"accepted": 1000}, {"accepted": 900, "": 100}, None, None),  # "" counts what a filter leaves out
        ({"accepted": 100, "expired": 900}, {"accepted": 1000}, None, None),
        ({}, {"expired": 40}, None, None),  # there were no calls before
        ({"expired": 40}, {}, None, None),
    ],
)
def test_the_reason_that_grew_most_is_named_if_it_or_all_rejections_grew_by_more_than_chance(
    previous_counts, counts, name, is_within_chance
):
    growth = find_reason_growth(counts, previous_counts)
    assert (growth and (growth.reason, growth.is_within_chance)) == (name and (name, is_within_chance))


@given(RESULTS, RESULTS)
def test_no_reason_grew_more_than_the_one_that_is_named(counts, previous_counts):
    growth = find_reason_growth(counts, previous_counts)
    total, previous_total = sum(counts.values()), sum(previous_counts.values())
    if growth is None:
        return
    assert (growth.count, growth.total) == (counts[growth.reason], total)
    gains = {
        reason: Growth(reason, counts.get(reason, 0), previous_counts.get(reason, 0), total, previous_total)
        for reason in ("expired", "replayed", "malformed")
    }
    assert 0 < growth.points == gains[growth.reason].points
    rivals = [gain for gain in gains.values() if growth.is_within_chance or not gain.is_within_chance]
    assert max(gain.points for gain in rivals) == growth.points


@given(RESULTS, RESULTS)
def test_a_steady_or_falling_rate_names_no_reason_that_may_be_chance(counts, previous_counts):
    growth = find_reason_growth(counts, previous_counts)
    if growth and growth.is_within_chance:
        rates = [
            1 - (numbers.get("accepted", 0) + numbers.get("", 0)) / sum(numbers.values())
            for numbers in (counts, previous_counts)
        ]
        assert rates[0] > rates[1]
