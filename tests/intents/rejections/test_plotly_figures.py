"""plotly accepts the figures, and they agree with the table."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly import graph_objects

from affidavit import REASONS
from intents.rejections.plotly_figures import RARE_REASONS, build_rejections_figure, build_table_rows, count_by_reason
from intents.rejections.tallies.series import ResultBucket

START = datetime(2026, 3, 1, tzinfo=UTC)
COUNTS = st.dictionaries(st.sampled_from(["accepted", "", *REASONS]), st.integers(1, 10**6))
BUCKETS = st.lists(COUNTS, max_size=6).map(
    lambda days: [ResultBucket(START + timedelta(days=day), Counter(counts)) for day, counts in enumerate(days)]
)


@settings(deadline=None)  # the first use of plotly's validators is slow
@given(BUCKETS)
def test_a_figure_is_valid_for_plotly(buckets):
    figure = build_rejections_figure(buckets)
    graph_objects.Figure(figure)
    assert json.loads(json.dumps(figure)) == figure


@given(BUCKETS)
def test_the_bars_of_a_bucket_add_up_to_its_rejections(buckets):
    heights = [sum(counts) for counts in zip(*count_by_reason(buckets).values(), strict=True)]
    assert heights == ([bucket.rejections for bucket in buckets] if heights else [])
    assert bool(heights) is any(bucket.rejections for bucket in buckets)


@given(BUCKETS)
def test_the_table_has_the_numbers_of_the_chart_latest_first(buckets):
    series = count_by_reason(buckets)
    for bucket, counts in build_table_rows(buckets, series):
        assert sum(counts) == bucket.rejections
    starts = [bucket.start for bucket, _ in build_table_rows(buckets, series)]
    assert starts == sorted((bucket.start for bucket in buckets if bucket.verifications), reverse=True)


@pytest.mark.parametrize(("reasons", "drawn"), [(0, 0), (6, 6), (7, 6), (15, 6)])
def test_rare_reasons_share_one_series(reasons, drawn):
    counts = Counter({reason: 100 - index for index, reason in enumerate(list(REASONS)[:reasons])})
    series_by_reason = count_by_reason([ResultBucket(START, counts)])
    assert len(series_by_reason) == drawn
    assert (RARE_REASONS in series_by_reason) is (reasons > 6)


def test_a_reason_keeps_its_colour_whatever_its_rank():
    def read_colours(**counts: int) -> dict[str, str]:
        figure = build_rejections_figure([ResultBucket(START, Counter(counts))])
        return {bar["name"]: bar["marker"]["color"] for bar in figure["data"]}

    colours = read_colours(expired=9, replayed=5, malformed=1)
    assert read_colours(expired=1, replayed=5, malformed=9) == colours
    assert len(set(colours.values())) == 3
