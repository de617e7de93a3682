"""The rules of alerts: general properties, and examples that users ask about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.rules import new_reasons
from alerts.rules.alert_descriptions import describe_alert
from alerts.rules.breaking_drift import MAX_CHANGES, BreakingChange, group_breaking_changes
from alerts.rules.event_titles import describe_happening
from alerts.rules.happenings import Happening
from alerts.rules.hub_outages import HubOutage, leave_out_outage
from alerts.rules.known_happenings import leave_out_known
from alerts.rules.new_reasons import NEW_AGAIN_AFTER, find_new_reasons
from alerts.rules.silences import HISTORY, choose_activity, find_silences, measure_silences
from alerts.rules.spikes import Share, choose_gap, choose_history, find_spikes, is_jump
from alerts.rules.thresholds import Thresholds
from wire.time.period import QUARTER

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MONTH = 30 * DAY


def fill(since: datetime, until: datetime, share: Share) -> dict[datetime, Share]:
    return {since + n * QUARTER: share for n in range(int((until - since) / QUARTER))}


USUAL = Thresholds()


def spikes(quarters, thresholds=USUAL, since=START, until=START + MONTH) -> list[Happening]:
    return list(find_spikes(quarters, thresholds, since=since, until=until))


@pytest.mark.parametrize(
    ("current", "usual", "words"),
    [
        (Share(40, 1000), Share(3, 1000), "4.0 % (40 of 1,000), usually 0.3 %"),
        (Share(997, 1000), Share(0, 1000), "99.7 % (997 of 1,000), usually 0 %"),
        (Share(123, 1000), Share(3, 100_000), "12.3 % (123 of 1,000), usually < 0.1 %"),
        (Share(50, 50), Share(1, 3_000_000), "100 % (50 of 50), usually < 0.1 %"),
    ],
)
def test_a_message_writes_shares_as_the_pages_do(current, usual, words):
    quarters = fill(START - 7 * DAY, START, usual) | fill(START, START + HOUR, current)
    jump = spikes(quarters, replace(USUAL, minutes=15), until=START + HOUR)[0]
    assert describe_happening("rejections.spike", jump.facts, "qa") == f"Rejected calls in qa: {words}"


def test_a_message_has_a_very_small_share_with_four_digits():
    quarters = fill(START - 7 * DAY, START, Share(1, 10_000_000)) | fill(START, START + HOUR, Share(5, 999_995))
    (jump,) = spikes(quarters, replace(USUAL, minutes=15, minimum=5, percent=0.0001), until=START + QUARTER)
    assert (jump.facts["share"], jump.facts["usual"]) == (0.000005, 0.0000001)


@pytest.mark.parametrize(
    ("percent", "factor", "words"),
    [
        (1, 3, "at least 1 % and 3 times the usual share"),
        (0.00001, 1, "at least 0.00001 % and the usual share"),
        (33.333333, 1.0000001, "at least 33.333333 % and 1.0000001 times the usual share"),
    ],
)
def test_an_alert_has_its_thresholds_as_they_were_typed(percent, factor, words):
    assert describe_alert("rejections.spike", replace(USUAL, percent=percent, factor=factor)).endswith(words)


def test_a_jump_fires_once_and_says_when_it_ended():
    quarters = fill(START - 8 * DAY, START + MONTH, Share(1, 1000))
    bad_from = START + 10 * DAY
    quarters |= fill(bad_from, bad_from + 3 * HOUR, Share(100, 1000))
    (happening,) = spikes(quarters)
    assert bad_from < happening.at <= bad_from + HOUR
    assert happening.until is not None
    assert bad_from + 3 * HOUR <= happening.until <= bad_from + 4 * HOUR
    assert happening.facts["count"] == 400
    assert happening.facts["usual"] == 0.001


def test_a_lasting_jump_has_no_end():
    quarters = fill(START - 8 * DAY, START + 10 * DAY, Share(1, 1000))
    quarters |= fill(START + 10 * DAY, START + 10 * DAY + HOUR, Share(100, 1000))
    (happening,) = spikes(quarters, until=START + 10 * DAY + HOUR)
    assert happening.until is None


def test_a_high_share_that_never_changes_is_no_jump():
    assert spikes(fill(START - 9 * DAY, START + MONTH, Share(300, 1000))) == []


def test_a_jump_in_very_small_counts_does_not_fire():
    quarters = fill(START - 8 * DAY, START + MONTH, Share(0, 1))
    quarters[START + DAY] = Share(19, 19)
    assert spikes(quarters) == []
    quarters[START + DAY] = Share(20, 20)
    assert len(spikes(quarters)) == 1


@pytest.mark.parametrize(
    ("current", "usual", "percent", "factor"),
    [
        (Share(29, 100), Share(0, 100), 29, 3),
        (Share(30, 100), Share(10, 100), 1, 3),
        (Share(7, 100), Share(1, 100), 7, 7),
        (Share(7, 10_000), Share(0, 100), 0.07, 3),
    ],
)
def test_a_share_that_is_exactly_at_its_thresholds_is_a_jump(current, usual, percent, factor):
    thresholds = Thresholds(minimum=current.cases, percent=percent, factor=factor)
    assert is_jump(current, usual, thresholds)
    assert not is_jump(current._replace(total=current.total + 1), usual, thresholds)


def test_a_share_that_goes_up_and_down_is_one_jump():
    quarters = fill(START - 8 * DAY, START + MONTH, Share(1, 1000))
    for hours in (0, 1.5, 3):
        quarters[START + DAY + hours * HOUR] = Share(200, 1000)
    assert len(spikes(quarters)) == 1
    quarters[START + DAY + 8 * HOUR] = Share(200, 1000)
    assert len(spikes(quarters)) == 2


shares = st.tuples(st.integers(0, 40), st.integers(0, 200)).map(lambda pair: Share(pair[0], sum(pair)))
series = st.dictionaries(st.integers(-4 * 24, 4 * 48), shares, max_size=60)
numbers = st.builds(
    Thresholds,
    minutes=st.sampled_from([15, 60, 1440]),
    minimum=st.integers(1, 50),
    percent=st.floats(0, 20),
    factor=st.floats(1, 5),
)


@settings(max_examples=60, deadline=None)
@given(series, numbers)
def test_every_jump_meets_its_thresholds_and_keeps_the_minimum_gap(numbered, thresholds):
    quarters = {START + number * QUARTER: share for number, share in numbered.items()}
    happenings = spikes(quarters, thresholds, until=START + 2 * DAY)
    for happening in happenings:
        window = [
            share for start, share in quarters.items() if happening.at - thresholds.length <= start < happening.at
        ]
        cases, total = sum(share.cases for share in window), sum(share.total for share in window)
        assert cases >= thresholds.minimum
        assert is_jump(Share(cases, total), Share(0, 0), thresholds)
    times = [happening.at for happening in happenings]
    assert all(later - earlier >= choose_gap(thresholds) for earlier, later in pairwise(times))


@settings(max_examples=40, deadline=None)
@given(series, numbers, st.lists(st.integers(1, 4 * 48), max_size=6))
def test_frequent_evaluation_finds_the_same_jumps_as_a_single_one(numbered, thresholds, looks):
    """Each evaluation sees only the data before its own time and skips stored happenings, so each jump fires once."""
    quarters = {START + number * QUARTER: share for number, share in numbered.items()}
    stored: list[Happening] = []
    for look in sorted({*looks, 4 * 48}):
        now = START + look * QUARTER
        data_so_far = {start: share for start, share in quarters.items() if start < now}
        happenings = spikes(data_so_far, thresholds, until=now)
        stored += leave_out_known(happenings, [(event.subject, event.at) for event in stored])
    found_at_once = spikes(quarters, thresholds, until=START + 2 * DAY)
    assert [event.key for event in stored] == [happening.key for happening in found_at_once]


def test_data_older_than_the_history_changes_nothing():
    """`choose_history` returns how far back a rule needs data."""
    thresholds = Thresholds(minutes=1440, minimum=1)
    quarters = fill(START - 20 * DAY, START + 2 * DAY, Share(3, 10)) | fill(START + DAY, START + 2 * DAY, Share(9, 9))
    needed = {start: share for start, share in quarters.items() if start >= START - choose_history(thresholds)}
    assert spikes(needed, thresholds) == spikes(quarters, thresholds) != []


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


def quarters_between(since: datetime, until: datetime) -> list[datetime]:
    return list(fill(since, until, Share(0, 0)))


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


@pytest.mark.parametrize(
    ("resumed_after", "until", "fires_after"),
    [
        (None, 5.5, []),  # it may still report again
        (None, 6, [6]),
        (None, 9, [6]),
        (5.5, 9, []),
        (6.5, 9, [6]),
    ],
)
def test_after_an_outage_of_five_hours_a_silence_fires_only_an_hour_after_its_end(resumed_after, until, fires_after):
    quarters = [START - n * QUARTER for n in range(50, 0, -1)]
    if resumed_after:
        quarters.append(START + resumed_after * HOUR)
    outage = HubOutage(START + HOUR / 2, START + 5 * HOUR)
    found = silences(quarters, until=START + until * HOUR)
    fired = list(leave_out_outage(found, outage, Thresholds(minutes=60), until=START + until * HOUR))
    assert [happening.at - START for happening in fired] == [hours * HOUR for hours in fires_after]


@given(
    began=st.integers(-40, 40).map(lambda n: START + n * QUARTER),
    length=st.integers(0, 30).map(lambda n: n * QUARTER),
)
def test_an_outage_changes_only_silences_that_it_made_longer(began, length):
    outage = HubOutage(START, START + length)
    happening = Happening("shop", began + HOUR, HOUR)
    kept = list(leave_out_outage([happening], outage, Thresholds(minutes=60), until=START + 30 * DAY))
    assert [row.at for row in kept] == [
        happening.at if happening.at < outage.start or began >= outage.end else max(happening.at, outage.end + HOUR)
    ]
    assert kept[0].is_same_as(happening.at)


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


def test_breaking_changes_detected_together_fire_once_with_their_number():
    """All of them are counted, and at most MAX_CHANGES are listed."""
    changes = [
        BreakingChange(7, version, START + version * HOUR, "GET /orders", "200", f"/{n}", "gone", "consumer")
        for version in (2, 3)
        for n in range(MAX_CHANGES + 2)
    ]
    first, second = group_breaking_changes(changes)
    assert (first.subject, first.at, second.subject) == ("7:2", START + 2 * HOUR, "7:3")
    assert first.facts["changeCount"] == MAX_CHANGES + 2
    assert len(first.facts["changes"]) == MAX_CHANGES


def test_a_later_breaking_change_in_the_same_version_fires_again():
    optional = BreakingChange(7, 2, START, "GET /orders", "200", "/total", "now optional", "consumer")
    gone = replace(optional, at=START + 2 * QUARTER, words="no longer seen")
    stored: list[Happening] = []
    for detected in ([optional], [optional, gone], [optional, gone]):
        stored += leave_out_known(group_breaking_changes(detected), [(event.subject, event.at) for event in stored])
    assert [event.facts["changes"][0]["change"] for event in stored] == ["now optional", "no longer seen"]
    assert len({event.key for event in stored}) == 2


def test_two_happenings_within_a_second_have_their_own_identities():
    optional = BreakingChange(7, 2, START, "GET /orders", "200", "/total", "now optional", "consumer")
    gone = replace(optional, at=START + timedelta(milliseconds=300), pointer="/id", words="no longer seen")
    assert len({happening.key for happening in group_breaking_changes([optional, gone])}) == 2


def test_a_happening_stays_the_same_if_late_reports_shift_its_time_slightly():
    happening = Happening("share", START, HOUR)
    assert list(leave_out_known([happening], [("share", START - HOUR / 2)])) == []
    assert list(leave_out_known([happening], [("share", START - HOUR), ("other", START)])) == [happening]
    assert list(leave_out_known([happening, happening], [])) == [happening]


def test_a_jump_stays_the_same_if_late_reports_show_that_it_began_hours_earlier():
    bad_from = START + 10 * DAY
    quarters = fill(START - 8 * DAY, START + MONTH, Share(1, 1000)) | fill(bad_from, START + MONTH, Share(100, 1000))
    (event,) = spikes(quarters, until=bad_from + 3 * HOUR)
    quarters |= fill(bad_from - 6 * HOUR, bad_from, Share(100, 1000))
    for until in (bad_from + 4 * HOUR, bad_from + 2 * DAY):  # while it lasts, and after its end
        quarters |= fill(bad_from + DAY, START + MONTH, Share(1, 1000))
        (happening,) = spikes(quarters, until=until)
        assert happening.at < event.at - 5 * HOUR
        assert list(leave_out_known([happening], [(event.subject, event.at)])) == []
