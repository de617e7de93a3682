"""A reason explains a rise of rejections if its part is more than half of the rise.

A rise starts with a bucket that has many more rejections than usual, if they have not been as usual since.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents.rejections.growth.rise import find_explaining_reason, find_start
from intents.rejections.tallies.series import ResultBucket
from intents.rejections.tallies.totals import ReasonSummary

NOW = datetime(2026, 3, 1, tzinfo=UTC)
COUNTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=6)
REJECTIONS = st.lists(st.none() | st.integers(0, 12), max_size=12)  # by bucket; None for a bucket without calls


def summarize(counts):
    total = sum(count for count, _ in counts) or 1
    return [
        ReasonSummary(f"reason-{number}", count, count / total, previous, NOW)
        for number, (count, previous) in enumerate(counts)
    ]


@pytest.mark.parametrize(
    ("counts", "verifications", "name"),
    [
        ([(40, 10)], (1000, 1000), "reason-0"),
        ([(9, 0), (4, 0), (4, 0), (8, 1)], (250, 250), None),  # it grew most, but by 9 of 24 only
        ([(13, 0), (12, 0)], (250, 250), "reason-0"),
        ([(12, 0), (12, 0)], (250, 250), None),  # each grew by half of the rise
        ([(20, 5), (10, 30)], (1000, 1000), "reason-0"),  # reasons that fell do not count
        ([(20, 10), (9, 0)], (2000, 1000), "reason-1"),  # twice the calls: reason-0 is steady
        ([(5, 10)], (1000, 1000), None),
        ([(5, 0)], (1000, 0), None),  # there were no calls before
        ([], (0, 0), None),
    ],
)
def test_a_reason_explains_a_rise_if_more_than_half_of_it_is_its_own(counts, verifications, name):
    reason = find_explaining_reason(summarize(counts), *verifications)
    assert (reason and reason.reason) == name


@given(COUNTS, st.integers(300, 1000), st.integers(300, 1000))
def test_the_reason_that_explains_a_rise_grew_and_outweighs_all_others(counts, verifications, previous):
    reasons = summarize(counts)
    reason = find_explaining_reason(reasons, verifications, previous)
    gains = {row.reason: row.count - row.previous_count / previous * verifications for row in reasons}
    gained = {name: gain for name, gain in gains.items() if gain > 0}
    leading = [name for name, gain in gained.items() if gain > sum(gained.values()) - gain + 1e-9]
    assert (
        leading == ([reason.reason] if reason else [])
        or min(abs(2 * gain - sum(gained.values())) for gain in gained.values()) < 1e-6
    )


def find_start_index(rejections, previous_count):
    """Return the index of the bucket in which a rise starts; None if there is none.

    rejections: the rejections of each bucket, which has accepted calls too; None for a bucket without calls.
    """
    buckets = [
        ResultBucket(NOW + n * timedelta(hours=1), Counter() if count is None else Counter(expired=count, accepted=9))
        for n, count in enumerate(rejections)
    ]
    start = find_start(buckets, previous_count)
    return None if start is None else [bucket.start for bucket in buckets].index(start)


@pytest.mark.parametrize(
    ("rejections", "previous_count", "index"),
    [
        ([1, 1, 9, 9], 4, 2),
        ([1, 1, 1, 9], 4, 3),  # the last bucket can start a rise
        ([5, 5, 10, 10], 20, None),  # twice the average is not over twice
        ([5, 5, 11, 11], 20, 2),
        ([0, 0, 2, 2], 0, None),  # so few may be a coincidence
        ([0, 0, 3, 3], 0, 2),
        ([9, 1, 2, 2], 4, None),  # it ended with the second bucket, and nothing rose later
        ([9, 1, 9, 9], 4, 2),  # the first rise ended
        ([9, 2, 9, 9], 4, 0),  # 2 is still more than the average
        ([9, None, 9, 9], 4, 0),  # without calls there is nothing to judge
        ([9, 9, 9, 0], 4, 0),  # the last bucket may be short
        ([9, 0, 0], 0, None),  # none at all ends a rise, even if there were none before
        ([None, None], 4, None),
        ([], 4, None),
    ],
)
def test_a_rise_starts_with_over_twice_the_usual_rejections_and_ends_with_the_usual_ones(
    rejections, previous_count, index
):
    assert find_start_index(rejections, previous_count) == index


@given(st.lists(st.integers(0, 100), min_size=1), st.lists(st.integers(1, 100), min_size=1))
def test_a_sudden_step_starts_at_its_bucket(before, increases):
    """No bucket before the step has more than the average, and all of the step have more than twice of it."""
    usual = max(before)
    step = [max(2 * usual, 2) + increase for increase in increases]
    assert find_start_index([*before, *step], usual * (len(before) + len(step))) == len(before)


@given(st.integers(0, 100), st.data())
def test_a_steady_series_has_no_start(usual, data):
    rejections = data.draw(st.lists(st.integers(0, max(2 * usual, 2)), min_size=1))
    assert find_start_index(rejections, usual * len(rejections)) is None


@given(REJECTIONS, st.integers(0, 60))
def test_a_rise_starts_with_the_first_high_bucket_after_the_last_usual_one(rejections, previous_count):
    size = len(rejections)
    usual = [n for n, count in enumerate(rejections[:-1]) if count is not None and count * size <= previous_count]
    after = max(usual, default=-1) + 1
    high = [n for n, count in enumerate(rejections) if count and count > 2 and count * size > 2 * previous_count]
    assert find_start_index(rejections, previous_count) == next((n for n in high if n >= after), None)
