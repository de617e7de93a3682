"""The figures are what plotly takes, and say what the table says."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly import graph_objects

from affidavit import REASONS
from intents.rejections.figures import RARE_REASONS, build_rejections_figure, build_table_rows, count_by_reason
from intents.rejections.series import ResultBucket

START = datetime(2026, 3, 1, tzinfo=UTC)
COUNTS = st.dictionaries(st.sampled_from(["accepted", "", *REASONS]), st.integers(1, 10**6))
BUCKETS = st.lists(COUNTS, max_size=6).map(
    lambda days: [ResultBucket(START + timedelta(days=day), Counter(counts)) for day, counts in enumerate(days)]
)


@settings(deadline=None)  # plotly's validators are slow when they are first asked
@given(BUCKETS, st.sampled_from(["hour", "day", "month"]))
def test_a_figure_is_what_plotly_takes(buckets, step):
    figure = build_rejections_figure(buckets, step=step)
    graph_objects.Figure(figure)
    assert json.loads(json.dumps(figure)) == figure


@given(BUCKETS)
def test_the_bars_of_a_bucket_add_up_to_its_rejections(buckets):
    heights = [sum(counts) for counts in zip(*count_by_reason(buckets).values(), strict=True)]
    assert heights == ([bucket.rejections for bucket in buckets] if heights else [])
    assert bool(heights) is any(bucket.rejections for bucket in buckets)


@given(BUCKETS)
def test_the_table_has_the_numbers_of_the_chart_latest_first(buckets):
    charted = count_by_reason(buckets)
    for bucket, counts in build_table_rows(buckets, charted):
        assert sum(counts) == bucket.rejections
    shown = [bucket.start for bucket, _ in build_table_rows(buckets, charted)]
    assert shown == sorted((bucket.start for bucket in buckets if bucket.verifications), reverse=True)


@pytest.mark.parametrize(("reasons", "series"), [(0, 0), (6, 6), (7, 6), (15, 6)])
def test_rare_reasons_are_drawn_together(reasons, series):
    counts = Counter({reason: 100 - index for index, reason in enumerate(list(REASONS)[:reasons])})
    charted = count_by_reason([ResultBucket(START, counts)])
    assert len(charted) == series
    assert (RARE_REASONS in charted) is (reasons > 6)
