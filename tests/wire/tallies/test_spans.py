from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from wire.tallies.spans import Segment, cover, next_month
from wire.time.period import QUARTER, ceil_to_quarter, floor_to_quarter

moments = st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
spans = st.one_of(
    st.timedeltas(timedelta(), timedelta(hours=30)),
    st.timedeltas(timedelta(), timedelta(days=70)),
    st.timedeltas(timedelta(), timedelta(days=900)),
)


def step(segment: Segment, moment: datetime) -> datetime:
    if segment.grain == "m":
        return next_month(moment)
    return moment + (timedelta(days=1) if segment.grain == "d" else QUARTER)


@given(moments, spans)
def test_segments_follow_each_other_from_the_first_quarter_hour_to_the_last(start, span):
    end = start + span
    segments = cover(start, end)
    assert len(segments) <= 5
    edges = [floor_to_quarter(start)]
    for segment in segments:
        assert segment.start == edges[-1]
        edges.append(segment.end)
    assert edges[-1] == (ceil_to_quarter(end) if segments else floor_to_quarter(start))


@given(moments, spans)
def test_every_segment_consists_of_whole_buckets_of_its_grain(start, span):
    for segment in cover(start, start + span):
        moment = segment.start
        while moment < segment.end:
            moment = step(segment, moment)
        assert moment == segment.end


@given(moments, spans)
def test_no_finer_grain_is_used_where_a_coarser_one_fits(start, span):
    for segment in cover(start, start + span):
        midnight = segment.start.replace(hour=0, minute=0)
        if segment.grain == "q":
            first_midnight = midnight if midnight == segment.start else midnight + timedelta(days=1)
            assert first_midnight + timedelta(days=1) > segment.end
        if segment.grain == "d":
            first = segment.start if segment.start.day == 1 else next_month(segment.start)
            assert next_month(first) > segment.end


def test_a_year_in_kolkata_is_read_as_months_days_and_the_quarter_hours_at_both_ends():
    start = datetime(2025, 12, 31, 18, 30, tzinfo=UTC)
    end = datetime(2026, 12, 31, 18, 30, tzinfo=UTC)
    assert [segment.grain for segment in cover(start, end)] == ["q", "m", "d", "q"]
