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
from intents.rejections.chart_sentence import describe_reasons
from intents.rejections.plotly_figures import RARE_REASONS, build_rejections_figure, build_table_rows, count_by_reason
from intents.rejections.tallies.series import ResultBucket
from intents.rejections.tallies.totals import ReasonSummary

START = datetime(2026, 3, 1, tzinfo=UTC)
BEFORE = "the 7 days before"
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


def build_summaries(*counts: tuple[str, int, int]) -> list[ReasonSummary]:
    return [ReasonSummary(reason, count, 0.5, before, START) for reason, count, before in counts]


def test_the_sentence_names_the_most_frequent_reason_and_the_one_that_grew_most():
    sentence = describe_reasons(
        build_summaries(("expired", 1200, 1300), ("replayed", 30, 10)), step="day", before=BEFORE, is_partial=True
    )
    assert sentence == (
        "1,230 rejections, one bar per day, the last one partial; expired leads with 1,200, replayed grew most, "
        "by 20 against the 7 days before."
    )


def test_the_sentence_says_which_bars_are_partial():
    summaries = build_summaries(("expired", 5, 0))
    sentence = describe_reasons(summaries, step="hour", before="", begins_within=True, is_partial=True)
    assert sentence.startswith("5 rejections, one bar per hour, the first one partial, the last one partial; expired")


def test_a_most_frequent_reason_that_also_grew_most_is_named_once():
    sentence = describe_reasons(build_summaries(("expired", 1200, 0), ("replayed", 3, 3)), step="hour", before=BEFORE)
    assert sentence.endswith("expired leads with 1,200, and grew most, by 1,200 against the 7 days before.")


def test_equally_frequent_reasons_lead_together():
    two, three = (build_summaries(*((reason, 2, 1) for reason in reasons)) for reasons in (("a", "b"), ("a", "b", "c")))
    sentence = describe_reasons(two, step="hour", before=BEFORE)
    assert sentence.endswith("; 2 each of a and b.")
    assert "; 3 reasons lead with 2 each" in describe_reasons(three, step="hour", before=BEFORE)


def test_of_equally_grown_reasons_none_grew_most():
    summaries = build_summaries(("a", 3, 2), ("b", 2, 1), ("c", 1, 1))
    sentence = describe_reasons(summaries, step="hour", before=BEFORE)
    assert sentence.endswith("; a leads with 3.")
    summaries = build_summaries(("a", 2, 1), ("b", 2, 0))
    assert describe_reasons(summaries, step="hour", before=BEFORE).endswith(
        "; 2 each of a and b, b grew most, by 2 against the 7 days before."
    )


def test_without_previous_data_no_reason_has_grown():
    sentence = describe_reasons(build_summaries(("expired", 1200, 0)), step="hour", before=BEFORE)
    assert sentence.endswith("expired leads with 1,200, none in the 7 days before.")


def test_the_sentence_of_one_reason_compares_it_with_its_previous_count():
    sentence = describe_reasons(
        build_summaries(("expired", 5, 8), ("replayed", 1, 0)), step="hour", before=BEFORE, reason="expired"
    )
    assert sentence == "5 rejections, one bar per hour: expired only, 3 fewer than in the 7 days before."


def test_all_time_has_no_comparison():
    for reason in ("", "expired"):
        sentence = describe_reasons(build_summaries(("expired", 5, 0)), step="month", before="", reason=reason)
        assert sentence.endswith(("expired leads with 5.", "expired only."))


def test_a_period_without_rejections_says_so():
    for summaries in ([], build_summaries(("expired", 0, 3))):
        assert describe_reasons(summaries, step="day", before=BEFORE) == "No rejections in this period."
        sentence = describe_reasons(summaries, step="day", before=BEFORE, is_filtered=True)
        assert sentence == "No rejections in this period with these filters."
