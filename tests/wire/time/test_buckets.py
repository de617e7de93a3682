from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.time.buckets import find_bucket_start, iterate_hours, split_into_buckets

ZONES = (
    "UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "America/New_York", "America/Sao_Paulo",
    "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo", "America/Havana",
)  # fmt: skip
quarters = st.integers(0, 35_000).map(lambda n: datetime(2018, 1, 1, tzinfo=UTC) + n * timedelta(minutes=75))


@given(quarters, st.integers(1, 4000), st.sampled_from(ZONES), st.sampled_from(["hour", "day", "month"]))
def test_buckets_cut_the_span_without_gap_or_overlap(start, hours, name, step):
    span = timedelta(hours=hours if step != "hour" else hours % 49 + 1)
    buckets = split_into_buckets(start, start + span, ZoneInfo(name), step)
    assert buckets[0].start == start
    assert buckets[-1].end == start + span
    assert all(bucket.end == next_bucket.start for bucket, next_bucket in pairwise(buckets))


@given(quarters, st.integers(1, 4000), st.sampled_from(ZONES))
def test_a_day_bucket_holds_one_local_date_and_no_date_has_two(start, hours, name):
    zone = ZoneInfo(name)
    buckets = split_into_buckets(start, start + timedelta(hours=hours), zone, "day")
    first = [bucket.start.astimezone(zone).date() for bucket in buckets]
    last = [(bucket.end - timedelta.resolution).astimezone(zone).date() for bucket in buckets]
    assert first == last
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("step", ["hour", "day", "month"])
def test_every_bucket_begins_at_a_whole_quarter_hour(step):
    for name in ZONES:
        buckets = split_into_buckets(
            datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC), ZoneInfo(name), step
        )
        assert all(bucket.start.timestamp() % 900 == 0 for bucket in buckets)


def test_the_day_on_which_summer_time_begins_has_23_hours():
    zone = ZoneInfo("Europe/Berlin")
    start, end = (datetime.combine(date(2026, 3, day), datetime.min.time(), zone) for day in (29, 30))
    (day,) = split_into_buckets(start.astimezone(UTC), end.astimezone(UTC), zone, "day")
    assert day.end - day.start == timedelta(hours=23)


def test_an_hour_repeated_by_the_change_of_clocks_has_two_names():
    zone = ZoneInfo("Europe/Berlin")
    buckets = split_into_buckets(
        datetime(2026, 10, 24, 22, tzinfo=UTC), datetime(2026, 10, 25, 4, tzinfo=UTC), zone, "hour"
    )
    labels = [bucket.label for bucket in buckets]
    assert len(set(labels)) == len(labels) == 6
    assert "Sun 25 Oct 02:00 CEST" in labels
    assert "Sun 25 Oct 02:00 CET" in labels


def test_an_hour_that_begins_with_a_change_of_clocks_by_half_an_hour_begins_there():
    zone, midnight = ZoneInfo("Australia/Lord_Howe"), datetime(2026, 4, 4, 12, tzinfo=UTC)
    for change in (datetime(2026, 4, 4, 15, tzinfo=UTC), datetime(2026, 10, 3, 15, 30, tzinfo=UTC)):  # back, ahead
        starts = {find_bucket_start(change + timedelta(minutes=minutes), zone, "hour") for minutes in range(30)}
        assert starts == {change}
        assert not split_into_buckets(change, change + timedelta(hours=3), zone, "hour")[0].is_partial
    hours = list(iterate_hours(midnight, midnight + timedelta(days=365), zone))
    assert all(find_bucket_start(hour, zone, "hour") == hour for hour in hours)


@pytest.mark.parametrize(
    ("step", "end", "is_partial"),
    [
        ("day", datetime(2026, 3, 5, 14, 15, tzinfo=UTC), True),
        ("day", datetime(2026, 3, 6, tzinfo=UTC), False),
        ("hour", datetime(2026, 3, 5, 14, 15, tzinfo=UTC), True),
        ("hour", datetime(2026, 3, 5, 14, tzinfo=UTC), False),
        ("month", datetime(2026, 3, 31, 23, 45, tzinfo=UTC), True),
        ("month", datetime(2026, 4, 1, tzinfo=UTC), False),
    ],
)
def test_the_label_of_a_current_bucket_says_partial(step, end, is_partial):
    buckets = split_into_buckets(datetime(2026, 3, 1, tzinfo=UTC), end, ZoneInfo("UTC"), step)
    assert [bucket.is_partial for bucket in buckets] == [False] * (len(buckets) - 1) + [is_partial]
    assert buckets[-1].label.endswith(", partial") is is_partial


@pytest.mark.parametrize(
    ("step", "start", "is_partial"),
    [
        ("hour", datetime(2026, 3, 1, 16, 45, tzinfo=UTC), True),
        ("hour", datetime(2026, 3, 1, 16, tzinfo=UTC), False),
        ("day", datetime(2026, 3, 1, 1, tzinfo=UTC), True),
        ("month", datetime(2026, 3, 2, tzinfo=UTC), True),
    ],
)
def test_the_label_of_a_first_bucket_without_its_beginning_says_partial(step, start, is_partial):
    buckets = split_into_buckets(start, datetime(2026, 5, 1, tzinfo=UTC), ZoneInfo("UTC"), step)
    assert [bucket.is_partial for bucket in buckets] == [is_partial] + [False] * (len(buckets) - 1)
    assert buckets[0].label.endswith(", partial") is is_partial


def test_a_bucket_that_lacks_beginning_and_end_says_so_once():
    start = datetime(2026, 3, 1, 16, 15, tzinfo=UTC)
    (bucket,) = split_into_buckets(start, start + timedelta(minutes=30), ZoneInfo("UTC"), "hour")
    assert bucket.label == "Sun 1 Mar 16:15, partial"


def test_a_day_of_23_hours_is_complete_when_it_is_over():
    zone = ZoneInfo("Europe/Berlin")
    start = datetime(2026, 3, 28, tzinfo=zone).astimezone(UTC)
    end = datetime(2026, 3, 30, tzinfo=zone).astimezone(UTC)  # the 29th has 23 hours
    assert not any(bucket.is_partial for bucket in split_into_buckets(start, end, zone, "day"))
