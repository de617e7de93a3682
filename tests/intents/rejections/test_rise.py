"""The reason of a rise is named only if it explains the rise."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents.rejections.rise import find_explaining_reason
from intents.rejections.totals import ReasonSummary

NOW = datetime(2026, 3, 1, tzinfo=UTC)
COUNTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=6)


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
        ([(9, 0), (4, 0), (4, 0), (8, 1)], (250, 250), None),  # 9 of 24: the most, but no cause of the whole
        ([(13, 0), (12, 0)], (250, 250), "reason-0"),
        ([(12, 0), (12, 0)], (250, 250), None),  # two halves
        ([(20, 5), (10, 30)], (1000, 1000), "reason-0"),  # what fell explains no rise
        ([(20, 10), (9, 0)], (2000, 1000), "reason-1"),  # twice the calls have twice the rejections of a steady reason
        ([(5, 10)], (1000, 1000), None),
        ([(5, 0)], (1000, 0), None),  # nothing to compare with
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
