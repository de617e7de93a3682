"""Time buckets lose nothing and count nothing twice, in any zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from intents.rejections.tallies.series import build_buckets
from wire.time.buckets import find_bucket_start
from wire.time.period import QUARTER, Period

ZONES = ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Cairo"]
SPANS = [timedelta(hours=1), timedelta(days=2), timedelta(days=90), timedelta(days=800), timedelta(days=1200)]


@st.composite
def counted_periods(draw: st.DrawFn) -> tuple[Period, list[tuple[datetime, str, int]]]:
    start = datetime(2018, 1, 1, tzinfo=UTC) + QUARTER * draw(st.integers(0, 8 * 365 * 96))
    span = draw(st.sampled_from(SPANS))
    period = Period(start, start + span, ZoneInfo(draw(st.sampled_from(ZONES))))
    quarters = st.integers(0, span // QUARTER - 1)
    moments = draw(st.lists(quarters, max_size=20))
    results = st.sampled_from(["accepted", "expired"])
    return period, [(start + QUARTER * moment, draw(results), draw(st.integers(1, 9))) for moment in moments]


@given(counted_periods())
def test_every_count_is_in_exactly_one_bucket(case):
    period, counts = case
    buckets = build_buckets(period, counts)
    assert sum(bucket.verifications for bucket in buckets) == sum(count for _, _, count in counts)
    assert sum(bucket.rejections for bucket in buckets) == sum(n for _, result, n in counts if result == "expired")


@given(counted_periods())
def test_buckets_are_in_order_and_begin_with_the_period(case):
    period, counts = case
    starts = [bucket.start.astimezone(UTC) for bucket in build_buckets(period, counts)]
    assert starts == sorted(set(starts))
    assert starts[0] == period.start
    assert starts[-1] < period.end


def test_the_hour_repeated_by_the_change_of_clocks_is_two_buckets():
    start = datetime(2026, 10, 24, 22, tzinfo=UTC)
    period = Period(start, start + timedelta(hours=5), ZoneInfo("Europe/Berlin"))
    counts = [(start + timedelta(hours=hour), "accepted", 1) for hour in (2, 3)]
    buckets = build_buckets(period, counts)
    assert [bucket.start.hour for bucket in buckets] == [0, 1, 2, 2, 3]
    assert [bucket.verifications for bucket in buckets] == [0, 0, 1, 1, 0]


@given(counted_periods())
def test_the_first_bucket_is_partial_if_the_period_begins_within_it(case):
    period, counts = case
    first, *_ = build_buckets(period, counts)
    begins_within = find_bucket_start(period.start, period.zone, period.step) < period.start
    assert first.label.count(", partial") == first.is_partial
    assert first.is_partial or not begins_within


def test_a_period_of_no_length_has_no_bucket():
    end = datetime(2026, 3, 6, tzinfo=UTC)
    assert build_buckets(Period(end, end, ZoneInfo("UTC")), []) == []
