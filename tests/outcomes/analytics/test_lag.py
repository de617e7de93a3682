"""The lags of outcomes are in the bars of “Time to outcome”, and say which share of outcomes is pending."""

from datetime import timedelta

import plotly.graph_objects
from hypothesis import given
from hypothesis import strategies as st

from outcomes.analytics import plotly_figures
from outcomes.analytics.lag import LAG_RANGES, count_lags


@given(st.lists(st.timedeltas(timedelta(days=-2), timedelta(days=90)), max_size=30))
def test_every_lag_is_in_exactly_one_bar_and_in_the_right_one(lags):
    distribution = count_lags(lags)
    assert sum(bar.count for bar in distribution.bars) == distribution.count == len(lags)
    ends = [least for least, _ in LAG_RANGES[1:]] + [timedelta.max]
    for bar, end in zip(distribution.bars, ends, strict=True):
        assert bar.count == sum((timedelta.min if bar.least is None else bar.least) <= lag < end for lag in lags)
    bars = [(bar.label, bar.count) for bar in distribution.visible_bars]
    plotly.graph_objects.Figure(plotly_figures.draw_bars(bars, unit="outcomes"))


AGES = st.timedeltas(timedelta(0), timedelta(days=30))
LAGS = st.lists(st.timedeltas(timedelta(days=-1), timedelta(days=60)), min_size=1, max_size=30)


@given(LAGS, AGES, AGES)
def test_the_pending_share_is_that_of_the_lags_which_have_not_passed(lags, newest, length):
    pending = count_lags(lags).estimate_pending(newest + length, newest)
    assert 0 <= pending <= sum(lag > newest for lag in lags) / len(lags) + 1e-9
    if length:
        assert pending >= sum(lag > newest + length for lag in lags) / len(lags) - 1e-9


@given(LAGS, AGES, AGES)
def test_the_pending_share_of_older_conversations_is_no_larger(lags, newest, later):
    distribution, day = count_lags(lags), timedelta(days=1)
    older = distribution.estimate_pending(newest + later + day, newest + later)
    assert older <= distribution.estimate_pending(newest + day, newest) + 1e-9


def test_outcomes_are_pending_for_conversations_that_started_less_than_the_usual_lag_ago():
    hour = timedelta(hours=1)
    assert count_lags([hour]).estimate_pending(2 * hour, timedelta(0)) == 0.5
    assert count_lags([hour]).estimate_pending(hour, timedelta(0)) == 1
    assert count_lags([]).estimate_pending(hour, timedelta(0)) == 0
