"""The title of an event writes numbers as the pages do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from alerts.rules.event_titles import describe_happening
from alerts.rules.spikes import Share, find_spikes
from alerts.rules.thresholds import Thresholds
from wire.time.period import QUARTER

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
USUAL = Thresholds()


def fill(since: datetime, until: datetime, share: Share) -> dict[datetime, Share]:
    return {since + n * QUARTER: share for n in range(int((until - since) / QUARTER))}


@pytest.mark.parametrize(
    ("current", "usual", "words"),
    [
        (Share(40, 1000), Share(3, 1000), "4.0 % (40 of 1,000), usually 0.3 %"),
        (Share(997, 1000), Share(0, 1000), "99.7 % (997 of 1,000), usually 0 %"),
        (Share(123, 1000), Share(3, 100_000), "12.3 % (123 of 1,000), usually < 0.1 %"),
        (Share(50, 50), Share(1, 3_000_000), "100 % (50 of 50), usually < 0.1 %"),
    ],
)
def test_a_message_writes_shares_as_the_pages_do(current, usual, words):
    quarters = fill(START - 7 * DAY, START, usual) | fill(START, START + HOUR, current)
    jump = next(find_spikes(quarters, replace(USUAL, minutes=15), since=START, until=START + HOUR))
    assert describe_happening("rejections.spike", jump.facts, "qa") == f"Rejected calls in qa: {words}"


def test_a_message_has_a_very_small_share_with_four_digits():
    quarters = fill(START - 7 * DAY, START, Share(1, 10_000_000)) | fill(START, START + HOUR, Share(5, 999_995))
    thresholds = replace(USUAL, minutes=15, minimum=5, percent=0.0001)
    (jump,) = find_spikes(quarters, thresholds, since=START, until=START + QUARTER)
    assert (jump.facts["share"], jump.facts["usual"]) == (0.000005, 0.0000001)
