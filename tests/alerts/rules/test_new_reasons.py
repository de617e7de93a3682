"""Reasons of rejections that are new fire once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.rules import new_reasons
from alerts.rules.happenings import Happening
from alerts.rules.known_happenings import leave_out_known
from alerts.rules.new_reasons import NEW_AGAIN_AFTER, find_new_reasons
from alerts.rules.thresholds import Thresholds

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MONTH = 30 * DAY


def reasons(rows, minimum=1, since=START, until=START + MONTH) -> list[Happening]:
    return list(find_new_reasons(rows, Thresholds(minimum=minimum), since=since, until=until))


def test_a_reason_is_new_the_first_time_and_after_thirty_days_without_it():
    rows = [(START + n * DAY, "expired", 1) for n in range(5)]
    assert [happening.at for happening in reasons(rows)] == [START]
    new_again_at = START + 4 * DAY + NEW_AGAIN_AFTER
    rows.append((new_again_at, "expired", 1))
    assert [happening.at for happening in reasons(rows, until=START + 60 * DAY)] == [START, new_again_at]


def test_a_reason_reported_in_the_last_thirty_days_is_not_new():
    assert reasons([(START - 2 * DAY, "expired", 1), (START, "expired", 50), (START, "replayed", 1)]) == [
        Happening("replayed", START, NEW_AGAIN_AFTER)
    ]


def test_a_new_reason_waits_for_its_minimum():
    rows = [(START + n * HOUR, "expired", 4) for n in range(3)]
    (happening,) = reasons(rows, minimum=10)
    assert happening.at == START + 2 * HOUR
    assert happening.facts == {"reason": "expired", "count": 12}


def test_a_reason_that_lasts_for_months_is_not_new_whatever_the_minimum():
    rows = [(START + n * DAY, "expired", 10) for n in range(-100, 1)]
    needed = [row for row in rows if row[0] >= START - DAY - new_reasons.HISTORY]
    for minimum in (1, 300, 310, 600, 610):
        assert reasons(needed, minimum, since=START - DAY, until=START) == []


def test_data_older_than_the_history_makes_no_reason_new():
    rows = [(START + n * DAY, "expired", 1) for n in (-95, -58, -29, 1)]
    needed = [row for row in rows if row[0] >= START - new_reasons.HISTORY]
    for minimum in (1, 2, 3):
        assert reasons(needed, minimum) == reasons(rows, minimum)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-2000, 2000), st.sampled_from("abc"), st.integers(0, 5)), max_size=30),
    st.integers(1, 10),
    st.lists(st.integers(1, 2000), max_size=5),
)
def test_frequent_evaluation_finds_each_new_reason_once(numbered, minimum, looks):
    rows = [(START + hour * HOUR, reason, count) for hour, reason, count in numbered]
    stored: list[Happening] = []
    for look in sorted({*looks, 2000}):
        now = START + look * HOUR
        happenings = reasons([row for row in rows if row[0] <= now], minimum, until=now)
        stored += leave_out_known(happenings, [(event.subject, event.at) for event in stored])
    found_at_once = reasons(rows, minimum, until=START + 2000 * HOUR)
    assert sorted(event.key for event in stored) == sorted(happening.key for happening in found_at_once)
