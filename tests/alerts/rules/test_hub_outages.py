"""An outage of the hub delays the silences that it may explain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.rules.happenings import Happening
from alerts.rules.hub_outages import HubOutage, leave_out_outage
from alerts.rules.silences import find_silences
from alerts.rules.thresholds import Thresholds
from wire.time.period import QUARTER

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("resumed_after", "until", "fires_after"),
    [
        (None, 5.5, []),  # it may still report again
        (None, 6, [6]),
        (None, 9, [6]),
        (5.5, 9, []),
        (6.5, 9, [6]),
    ],
)
def test_after_an_outage_of_five_hours_a_silence_fires_only_an_hour_after_its_end(resumed_after, until, fires_after):
    quarters = [START - n * QUARTER for n in range(50, 0, -1)]
    if resumed_after:
        quarters.append(START + resumed_after * HOUR)
    outage = HubOutage(START + HOUR / 2, START + 5 * HOUR)
    thresholds, end = Thresholds(minutes=60, minimum=4), START + until * HOUR
    found = find_silences({"shop": quarters}, thresholds, since=START, until=end)
    fired = list(leave_out_outage(found, outage, thresholds, until=end))
    assert [happening.at - START for happening in fired] == [hours * HOUR for hours in fires_after]


@given(
    began=st.integers(-40, 40).map(lambda n: START + n * QUARTER),
    length=st.integers(0, 30).map(lambda n: n * QUARTER),
)
def test_an_outage_changes_only_silences_that_it_made_longer(began, length):
    outage = HubOutage(START, START + length)
    happening = Happening("shop", began + HOUR, HOUR)
    kept = list(leave_out_outage([happening], outage, Thresholds(minutes=60), until=START + 30 * DAY))
    assert [row.at for row in kept] == [
        happening.at if happening.at < outage.start or began >= outage.end else max(happening.at, outage.end + HOUR)
    ]
    assert kept[0].is_same_as(happening.at)
