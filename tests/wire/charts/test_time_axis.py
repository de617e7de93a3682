"""The time axis of a chart names hours, days and months as the labels of its buckets do."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from wire.charts.time_axis import describe_time_axis
from wire.time.buckets import format_label


@pytest.mark.parametrize("step", ["day", "month"])
def test_the_time_axis_uses_the_format_of_the_bucket_labels(step):
    """plotly.js writes the names of months and days in English, as the labels do."""
    moment = datetime(2026, 11, 5, tzinfo=UTC)
    label = format_label(moment, ZoneInfo("UTC"), step)
    assert label.startswith(moment.strftime(describe_time_axis(step)["tickformat"]))
