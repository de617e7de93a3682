"""Periods are parsed from the address, in the viewer's zone, and never fail."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wire.time.buckets import find_bucket_start, show_numbers, split_into_buckets
from wire.time.period import PRESETS, floor_to_quarter, parse_period

NOW = datetime(2026, 3, 29, 12, 7, 31, tzinfo=UTC)  # the day on which Berlin's summer time begins


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_contains_now(preset):
    period = parse_period({"range": preset}, now=NOW)
    assert period.start < NOW < period.end
    assert period.end - NOW <= timedelta(minutes=15)


def test_a_range_of_days_begins_at_local_midnight():
    period = parse_period({"range": "7d", "tz": "Asia/Kolkata"}, now=NOW)
    local = period.start.astimezone(period.zone)
    assert (local.hour, local.minute) == (0, 0)
    assert (NOW.astimezone(period.zone).date() - local.date()).days == 6


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC)),
    st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York", "America/Santiago"]),
    st.sampled_from([("7d", 7), ("30d", 30), ("90d", 90), ("12m", 365)]),
)
@example(datetime(2026, 11, 22, 23, 45, tzinfo=UTC), "UTC", ("7d", 7))  # the last quarter hour of a day
@example(datetime(2026, 11, 22, 22, 59, tzinfo=UTC), "Europe/Berlin", ("30d", 30))
@example(datetime(2026, 3, 29, 22, 15, tzinfo=UTC), "Europe/Berlin", ("7d", 7))  # just after a day of 23 hours
def test_a_range_of_days_has_one_bar_a_day_and_only_today_is_partial(now, zone, preset):
    name, days = preset
    period = parse_period({"range": name, "tz": zone}, now=now)
    buckets = split_into_buckets(period.start, period.end, period.zone, "day", elapsed_until=period.elapsed_until)
    assert [bucket.start.astimezone(period.zone).date() for bucket in buckets] == [
        now.astimezone(period.zone).date() - timedelta(days=before) for before in reversed(range(days))
    ]
    assert [bucket.is_partial for bucket in buckets] == [False] * (days - 1) + [True]


@given(
    st.datetimes(datetime(2023, 1, 1), datetime(2026, 3, 29), timezones=st.just(UTC)),
    st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Cairo"]),
    st.sampled_from(list(PRESETS)),
)
@example(datetime(2026, 3, 27, 12, 15, tzinfo=UTC), "UTC", "7d")  # two days before the end
@example(datetime(2024, 1, 20, tzinfo=UTC), "UTC", "all")  # almost 800 days before the end
def test_a_chart_begins_with_the_bucket_that_holds_the_first_data(first, zone, preset):
    first = floor_to_quarter(first)
    period = parse_period({"range": preset, "tz": zone}, now=NOW)
    part = period.begin_with_data(first)
    buckets = split_into_buckets(part.start, part.end, part.zone, part.step)
    assert (part.end, part.zone, part.preset) == (period.end, period.zone, period.preset)
    if first <= period.start:
        assert part == period
        return
    assert buckets[0].start <= first < buckets[0].end
    # The first bucket is a whole hour, day or month of the zone, unless the period begins within that time.
    assert part.start == max(period.start, find_bucket_start(first, period.zone, part.step))


def test_a_period_that_ends_before_the_first_data_has_no_bucket():
    period = parse_period({"from": "2026-01-01", "to": "2026-01-07"}, now=NOW)
    part = period.begin_with_data(NOW)
    assert not split_into_buckets(part.start, part.end, part.zone, part.step)
    assert period.begin_with_data(None) == period


def test_today_is_partial_in_a_custom_range_too():
    period = parse_period({"from": "2026-03-28", "to": "2026-03-29", "tz": "Europe/Berlin"}, now=NOW)
    buckets = split_into_buckets(period.start, period.end, period.zone, "day", elapsed_until=period.elapsed_until)
    assert [bucket.is_partial for bucket in buckets] == [False, True]


@pytest.mark.parametrize(("step", "dates"), [("day", ("2026-03-28", "2026-04-01")), ("hour", ("2026-03-29",) * 2)])
def test_only_the_present_is_partial_and_what_comes_after_it_has_not_begun(step, dates):
    period = parse_period({"from": dates[0], "to": dates[1]}, now=NOW)
    buckets = split_into_buckets(period.start, period.end, period.zone, step, elapsed_until=period.elapsed_until)
    present = next(number for number, bucket in enumerate(buckets) if bucket.end > NOW)
    assert 0 < present < len(buckets) - 1
    assert [bucket.is_partial for bucket in buckets] == [number == present for number in range(len(buckets))]
    assert [bucket.has_begun for bucket in buckets] == [number <= present for number in range(len(buckets))]
    assert [bucket.label.endswith(", partial") for bucket in buckets] == [bucket.is_partial for bucket in buckets]
    assert show_numbers(buckets, [0] * len(buckets)) == [0 if bucket.has_begun else None for bucket in buckets]
    assert show_numbers(buckets, [1] * len(buckets)) == [1] * len(buckets)  # a clock can be ahead


def test_a_custom_range_of_local_dates_includes_its_last_day():
    period = parse_period({"from": "2026-03-29", "to": "2026-03-29", "tz": "Europe/Berlin"}, now=NOW)
    assert period.end - period.start == timedelta(hours=23)


@given(st.dictionaries(st.sampled_from(["range", "from", "to", "tz"]), st.text(max_size=20)))
def test_any_query_gives_a_period(query):
    period = parse_period(query, now=NOW)
    assert period.start < period.end


@pytest.mark.parametrize(
    ("query", "faults", "preset"),
    [
        ({"from": "2026-03-20", "to": "2026-03-01", "range": "30d"}, ("The dates end before they begin.",), "30d"),
        ({"from": "2027-01-01"}, ("The dates begin in the future.",), "7d"),
        ({"from": "1999-12-31"}, ("The dates begin before the year 2000.",), "7d"),
        ({"to": "soon"}, ("The dates could not be read; write them as 2026-11-23.",), "7d"),
        ({"from": "2026-01-01", "to": "9999-12-31"}, ("The dates are at the end of the calendar.",), "7d"),
        ({"from": "2026-01-01", "to": "9999-12-30"}, ("The dates end more than a hundred years from now.",), "7d"),
        ({"to": "9999-12-31T23:59"}, ("The dates end more than a hundred years from now.",), "7d"),
        ({"from": "2000-01-01", "to": "4000-01-01"}, ("The dates end more than a hundred years from now.",), "7d"),
        ({"range": "3w", "tz": "Mars"}, ("There is no such time zone.", "There is no such range."), "7d"),
        ({"from": "2026-03-01", "tz": "Mars"}, ("There is no such time zone.",), ""),
        *[
            ({"tz": name}, ("There is no such time zone.",), "7d")  # files beside those of the IANA zones
            for name in ("localtime", "posixrules", "posix/UTC", "right/UTC", "Factory", "zone.tab", "Europe", "../UTC")
        ],
        ({"from": "2026-03-29"}, (), ""),
    ],
)
def test_dates_that_cannot_be_read_are_named_and_the_range_is_used_instead(query, faults, preset):
    period = parse_period(query, now=NOW)
    assert (period.faults, period.preset) == (faults, preset)


ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]
DAYS = st.dates(date(2024, 1, 1), date(2027, 1, 1))
AFTERWARDS = datetime(2028, 1, 1, tzinfo=UTC)  # all ranges of these days are over


@pytest.mark.parametrize("to", ["2026-03-29", "2026-04-04"])
def test_of_a_range_that_goes_on_only_what_is_over_is_compared(to):
    """The range begins on a Monday. NOW is the Sunday after it, 12:07 UTC, when summer time began in Berlin."""
    period = parse_period({"from": "2026-03-23", "to": to, "tz": "Europe/Berlin"}, now=NOW)
    weeks = 1 if to == "2026-03-29" else 2
    previous = period.previous()
    assert previous.start == period.shift_back(period.start)
    assert previous.end == datetime(2026, 3, 29, 13, 15, tzinfo=UTC) - timedelta(weeks=weeks)  # 14:15 there, in winter
    past_period = parse_period({"from": "2026-03-20", "to": "2026-03-28", "tz": "Europe/Berlin"}, now=NOW)
    assert past_period.previous().end == past_period.shift_back(past_period.end)
    future_period = parse_period({"from": "2026-04-01", "to": "2026-04-03"}, now=NOW)
    assert future_period.previous().end == future_period.shift_back(future_period.end)


@given(DAYS, st.integers(0, 40), st.sampled_from(ZONES))
def test_the_previous_period_has_the_same_weekdays_whole_weeks_earlier(first, further_days, zone):
    last = first + timedelta(days=further_days)
    period = parse_period({"from": str(first), "to": str(last), "tz": zone}, now=AFTERWARDS)
    weeks = timedelta(weeks=further_days // 7 + 1)
    assert period.previous() == replace(
        parse_period({"from": str(first - weeks), "to": str(last - weeks), "tz": zone}, now=AFTERWARDS), preset=""
    )
    assert period.previous().end <= period.start
    assert period.step == ("hour" if further_days < 2 else "day")


@given(DAYS, st.sampled_from(ZONES), st.integers(0, 95), st.integers(1, 96))
def test_the_previous_period_of_some_hours_is_at_the_same_time_a_week_earlier(day, zone, quarter, quarters):
    start = datetime.combine(day, time(), ZoneInfo("UTC")) + quarter * timedelta(minutes=15)
    end = start + quarters * timedelta(minutes=15)
    period = parse_period({"from": start.isoformat(), "to": end.isoformat(), "tz": zone}, now=NOW)
    previous = period.previous()
    assert previous.start <= previous.end <= period.end
    assert abs((period.start - previous.start) - timedelta(weeks=1)) <= timedelta(hours=1)


CHANGES = [
    date(2026, 3, 8),
    date(2026, 3, 29),
    date(2026, 4, 5),
    date(2026, 10, 4),
    date(2026, 10, 25),
    date(2026, 11, 1),
]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("change", CHANGES)
def test_hours_around_a_change_of_the_clocks_are_compared_in_order(change, zone):
    for first in (change + timedelta(days=days) for days in range(-1, 9)):
        period = parse_period({"from": str(first), "to": str(first + timedelta(days=1)), "tz": zone}, now=AFTERWARDS)
        buckets = split_into_buckets(period.start, period.end, period.zone, "hour")
        moments = [period.shift_back(bucket.start) for bucket in buckets] + [period.shift_back(period.end)]
        assert moments == sorted(moments)
        assert (moments[0], moments[-1]) == (period.previous().start, period.previous().end)


def test_a_period_starts_and_ends_at_whole_quarter_hours():
    period = parse_period({"from": "2026-03-10T10:07:00Z", "to": "2026-03-10T11:10:51Z"}, now=NOW)
    assert (period.start.minute, period.end.minute, period.end.second) == (0, 15, 0)
