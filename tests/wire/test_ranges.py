"""Ranges: out of the address, in the viewer's zone, never failing."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.ranges import PRESETS, parse

NOW = datetime(2026, 3, 29, 12, 7, 31, tzinfo=UTC)  # the day on which Berlin's summer time begins


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_ends_after_now_and_holds_it(preset):
    span = parse({"range": preset}, now=NOW)
    assert span.start < NOW < span.end
    assert span.end - NOW <= timedelta(minutes=15)


def test_a_range_of_days_begins_at_local_midnight():
    span = parse({"range": "7d", "tz": "Asia/Kolkata"}, now=NOW)
    local = span.start.astimezone(span.zone)
    assert (local.hour, local.minute) == (0, 0)
    assert (NOW.astimezone(span.zone).date() - local.date()).days == 6


def test_a_custom_range_of_local_dates_holds_its_last_day():
    span = parse({"from": "2026-03-29", "to": "2026-03-29", "tz": "Europe/Berlin"}, now=NOW)
    assert span.end - span.start == timedelta(hours=23)


@given(st.dictionaries(st.sampled_from(["range", "from", "to", "tz"]), st.text(max_size=20)))
def test_no_address_breaks_a_page(query):
    span = parse(query, now=NOW)
    assert span.start < span.end


@pytest.mark.parametrize("query", [{"range": "7d"}, {"range": "30d"}, {"from": "2026-03-01", "to": "2026-03-10"}])
def test_the_period_before_has_the_same_weekdays_and_no_overlap(query):
    span = parse(query, now=NOW)
    before = span.before()
    assert (span.start - before.start) % timedelta(weeks=1) == timedelta(0)
    assert before.end <= span.end
    assert before.end - before.start == span.end - span.start
