"""Jumps of a share fire once: general properties, and examples that users ask about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.rules.happenings import Happening
from alerts.rules.known_happenings import leave_out_known
from alerts.rules.spikes import Share, choose_gap, choose_history, find_spikes, is_jump
from alerts.rules.thresholds import Thresholds
from wire.time.period import QUARTER

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MONTH = 30 * DAY
USUAL = Thresholds()


def fill(since: datetime, until: datetime, share: Share) -> dict[datetime, Share]:
    return {since + n * QUARTER: share for n in range(int((until - since) / QUARTER))}


def spikes(quarters, thresholds=USUAL, since=START, until=START + MONTH) -> list[Happening]:
    return list(find_spikes(quarters, thresholds, since=since, until=until))


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
