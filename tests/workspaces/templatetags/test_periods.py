"""Links to the earlier and later period, and links with a fixed period."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

import pytest
from django.template import Context
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from wire.time.period import Period, parse_period
from workspaces.templatetags import periods

NOW = datetime(2026, 3, 29, 12, 7, tzinfo=UTC)  # the day on which Berlin's summer time begins
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns"])


def read_copied_link(query: str) -> Period:
    """Return the period that a page shows a year later if its link is copied now."""
    request = RequestFactory().get(f"/?{query}")
    period = parse_period(request.GET, now=NOW)
    link = periods.fixed_period(Context({"request": request, "period": period}))
    return parse_period(dict(parse_qsl(link[1:])), now=NOW + timedelta(days=365))


def write_neighbour(period: Period, step: int) -> dict[str, str]:
    neighbour = period.find_neighbour(step, now=NOW)
    return periods.write_period(neighbour) if neighbour else {}


@pytest.mark.parametrize("preset", ["24h", "7d", "30d", "90d", "12m", "all"])
@given(zone=ZONES)
def test_a_copied_link_shows_the_same_span_a_year_later(preset, zone):
    query = f"range={preset}&tz={zone}"
    period = parse_period(dict(parse_qsl(query)), now=NOW)
    later = read_copied_link(query)
    assert (later.start, later.end, later.zone) == (period.start, period.end, period.zone)


def test_a_week_steps_by_whole_local_days():
    period = parse_period({"range": "7d", "tz": "Europe/Berlin"}, now=NOW)
    assert write_neighbour(period, -1) == {"from": "2026-03-16", "to": "2026-03-22"}


@pytest.mark.parametrize(
    ("zone", "day", "earlier"),
    [
        ("America/Santiago", "2025-09-07", "2025-09-06"), ("America/Santiago", "2025-09-06", "2025-09-05"),
        ("America/Havana", "2025-11-02", "2025-11-01"), ("America/Havana", "2025-11-01", "2025-10-31"),
    ],
)  # fmt: skip
def test_a_day_that_begins_or_ends_where_clocks_skip_or_repeat_midnight_is_a_whole_day(zone, day, earlier):
    query = f"from={day}&to={day}&tz={zone}"
    period = parse_period(dict(parse_qsl(query)), now=NOW)
    assert periods.dates(period) == f"{datetime.fromisoformat(day):%-d %b %Y}"
    assert (periods.first_day(period), periods.last_day(period)) == (day, day)
    assert write_neighbour(period, -1) == {"from": earlier, "to": earlier}
    later = read_copied_link(query)
    assert (later.start, later.end) == (period.start, period.end)


def test_hours_step_by_their_own_length():
    earlier = write_neighbour(parse_period({"range": "24h"}, now=NOW), -1)
    period = parse_period(earlier, now=NOW)
    assert period.end == parse_period({"range": "24h"}, now=NOW).start


def test_there_is_no_period_later_than_now_or_earlier_than_all_time():
    assert write_neighbour(parse_period({"range": "7d"}, now=NOW), 1) == {}
    assert write_neighbour(parse_period({"range": "all"}, now=NOW), -1) == {}


@given(start=st.dates(min_value=datetime(2001, 1, 1).date(), max_value=datetime(2026, 1, 1).date()),
       days=st.integers(1, 60), zone=ZONES)  # fmt: skip
def test_one_step_back_and_one_forward_gives_the_same_period(start, days, zone):
    query = {"from": start.isoformat(), "to": (start + timedelta(days=days - 1)).isoformat(), "tz": zone}
    period = parse_period(query, now=NOW)
    earlier = parse_period({**write_neighbour(period, -1), "tz": zone}, now=NOW)
    assert earlier.end == period.start
    assert period.find_neighbour(-1, now=NOW) == earlier
    back = parse_period({**write_neighbour(earlier, 1), "tz": zone}, now=NOW)
    assert (back.start, back.end) == (period.start, period.end)


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ({"from": "2026-03-16", "to": "2026-03-22"}, "16 Mar – 22 Mar 2026"),
        ({"from": "2025-12-30", "to": "2026-01-02"}, "30 Dec 2025 – 2 Jan 2026"),
        ({"from": "2026-03-16", "to": "2026-03-16"}, "16 Mar 2026"),
        ({"range": "24h"}, "28 Mar 12:15 – 29 Mar 12:15 2026"),
        ({"range": "all"}, "until 29 Mar 2026"),
        ({"to": "2026-03-22"}, "until 22 Mar 2026"),
    ],
)
def test_a_range_is_written_as_its_dates(query, written):
    assert periods.dates(parse_period(query, now=NOW)) == written


def test_a_period_that_began_within_a_day_and_goes_on_is_named_by_its_start():
    period = parse_period({"from": "2026-03-29T11:30:22+00:00"}, now=NOW)
    assert periods.dates(period) == "since 29 Mar 11:30"
    assert periods.preceding(period) == "22 Mar 11:30 – 22 Mar 12:15 2026"
    past = parse_period({"from": "2026-03-29T11:30:22+00:00", "to": "2026-03-29T12:00:00+00:00"}, now=NOW)
    assert periods.dates(past) == "29 Mar 11:30 – 29 Mar 12:00 2026"


def test_a_comparison_of_a_week_says_that_it_ends_at_the_same_hour():
    week = parse_period({"range": "7d"}, now=NOW)
    assert periods.preceding(week) == "the 7 days before, to the same hour"


@pytest.mark.parametrize("to", ["2026-03-29", "2026-04-04"])
def test_a_comparison_of_a_range_that_goes_on_says_so_too(to):
    period = parse_period({"from": "2026-03-23", "to": to}, now=NOW)
    before = {"2026-03-29": "16 Mar – 22 Mar 2026", "2026-04-04": "9 Mar – 15 Mar 2026"}[to]
    assert periods.preceding(period) == f"{before}, to the same hour"
