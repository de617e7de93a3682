"""If a chart shows few days, its axis labels each day once."""

from datetime import date, timedelta

import pytest

from catalog.browse.operation.presence_counts import Presence
from catalog.browse.properties.chart import draw_calls
from catalog.browse.properties.presence_by_day import PropertyDay

FIRST = date(2026, 11, 24)
DAY_MILLISECONDS = 24 * 60 * 60 * 1000


@pytest.mark.parametrize(
    ("numbers", "dtick"),
    [
        ([], None),
        ([0], DAY_MILLISECONDS),
        ([0, 1], DAY_MILLISECONDS),
        ([0, 4], DAY_MILLISECONDS),
        ([0, 5], None),
        ([0, 90], None),
    ],
)
def test_an_axis_of_few_days_labels_each_once(numbers, dtick):
    days = [PropertyDay(FIRST + timedelta(days=n), Presence(1, 1), "string", {}, 0) for n in numbers]
    layout = draw_calls(days, "200", today=FIRST)["layout"]
    assert layout["xaxis"].get("dtick") == dtick
