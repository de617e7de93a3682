"""A reporter that is silent for longer than usual fires once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.rules.happenings import Happening
from alerts.rules.known_happenings import leave_out_known
from alerts.rules.silences import HISTORY, choose_activity, find_silences, measure_silences
from alerts.rules.thresholds import Thresholds
from wire.time.period import QUARTER

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def quarters_between(since: datetime, until: datetime) -> list[datetime]:
    return [since + n * QUARTER for n in range(int((until - since) / QUARTER))]


def silences(quarters, minutes=60, minimum=4, since=START, until=START + 10 * DAY) -> list[Happening]:
    return list(
        find_silences({"shop": quarters}, Thresholds(minutes=minutes, minimum=minimum), since=since, until=until)
    )


def test_a_silence_fires_after_the_threshold_and_ends_with_the_next_report():
    quarters = quarters_between(START - DAY, START + DAY) + quarters_between(START + 2 * DAY, START + 10 * DAY)
    (happening,) = silences(quarters)
    assert (happening.at, happening.until) == (START + DAY + HOUR, START + 2 * DAY)
    assert happening.facts == {"reporter": "shop", "lastReportBefore": int((START + DAY).timestamp())}


def test_a_pause_that_occurs_every_night_is_no_silence():
    nights = [
        hour for day in range(-5, 10) for hour in quarters_between(START + day * DAY, START + day * DAY + 16 * HOUR)
    ]
    assert silences(nights) == []
    (happening,) = silences([quarter for quarter in nights if quarter < START + 5 * DAY])
    assert happening.at == START + 4 * DAY + 24 * HOUR + QUARTER


def test_the_measure_of_a_silence_names_its_reporter():
    reporters = {"shop": [START, START + 5 * HOUR], "": [START, START + 3 * HOUR]}
    measures = measure_silences(reporters, Thresholds(minimum=1), since=START, until=START + 5 * HOUR)
    longest: dict[str | None, float] = {}
    for measure in measures:
        longest[measure.reporter] = max(measure.value, longest.get(measure.reporter, 0))
    assert longest == {"shop": 4.75, "": 2.75}


def test_activity_older_than_needed_changes_no_silence():
    """A silence fires once it is longer than the pause of 4 days that began 14 days before it, and not earlier."""
    last = START - 3 * DAY
    pauses = ((last - 14 * DAY, last - 10 * DAY), (last - 7 * DAY, last - 4.5 * DAY))
    quarters = [
        quarter
        for quarter in quarters_between(last - 30 * DAY, last)
        if not any(start <= quarter < end for start, end in pauses)
    ]
    for now, fires_at in ((last + 2.7 * DAY, []), (last + 4.1 * DAY, [last + 4 * DAY + QUARTER])):
        since = now - DAY
        needed = [quarter for quarter in quarters if quarter >= since - choose_activity(Thresholds(minutes=60))]
        assert [happening.at for happening in silences(needed, since=since, until=now)] == fires_at
        assert silences(needed, since=since, until=now) == silences(quarters, since=since, until=now)


def test_a_single_report_does_not_make_a_reporter():
    assert silences([START]) == []
    assert silences([START, START + HOUR, START + 2 * HOUR], minimum=3) != []


@settings(max_examples=40, deadline=None)
@given(
    st.sets(st.integers(-4 * 24, 4 * 96), max_size=80),
    st.sampled_from([15, 60, 240]),
    st.integers(1, 6),
    st.lists(st.integers(1, 4 * 96), max_size=5),
)
def test_frequent_evaluation_finds_each_silence_once(numbered, minutes, minimum, looks):
    quarters = [START + number * QUARTER for number in sorted(numbered)]
    stored: list[Happening] = []
    for look in sorted({*looks, 4 * 96}):
        now = START + look * QUARTER
        happenings = silences([quarter for quarter in quarters if quarter < now], minutes, minimum, until=now)
        stored += leave_out_known(happenings, [(event.subject, event.at) for event in stored])
    found_at_once = silences(quarters, minutes, minimum, until=START + 4 * DAY)
    assert [event.key for event in stored] == [happening.key for happening in found_at_once]
    assert all((event.at - START) <= 4 * DAY for event in stored)
    assert HISTORY > 14 * DAY
