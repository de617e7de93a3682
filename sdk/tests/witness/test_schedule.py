"""A live reporter reports at intervals, earlier after news, and never too often (contract §4).

News is an operation, or a fact about its shape, that the reporter has not seen before.
"""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from affidavit._witness.schedule import PROMPT, Schedule

MINUTE = 60.0


def test_without_anything_to_report_nothing_is_due():
    schedule = Schedule(MINUTE)
    assert schedule.pause(0.0) is None
    assert not schedule.is_due(1e9)


def test_a_report_without_news_waits_for_the_interval():
    schedule = Schedule(MINUTE)
    schedule.note_pending(100.0)
    schedule.note_pending(130.0)
    assert schedule.pause(100.0) == MINUTE
    assert not schedule.is_due(159.9)
    assert schedule.is_due(160.0)


def test_the_first_news_is_reported_soon_and_endless_news_after_growing_delays():
    schedule, now, gaps = Schedule(MINUTE), 0.0, []
    for _ in range(9):
        schedule.note_pending(now)
        schedule.note_news(now)
        gaps.append(schedule.pause(now))
        now += gaps[-1]
        schedule.note_report(now)
    assert gaps == [PROMPT, 2, 4, 8, 16, 32, MINUTE, MINUTE, MINUTE]
    schedule.note_pending(now)
    now += MINUTE
    schedule.note_report(now)
    schedule.note_news(now)
    assert schedule.pause(now) == 2


def test_while_the_room_for_operations_fills_up_reports_follow_each_other_closely():
    schedule, now, gaps = Schedule(MINUTE), 0.0, []
    for _ in range(4):
        schedule.note_crowding(now)
        gaps.append(schedule.pause(now))
        now += gaps[-1]
        schedule.note_report(now)
    assert gaps == [0, 2, 2, 2]
    schedule.note_sent(now + 0.5)  # a report that takes long is not repeated as soon
    schedule.note_crowding(now + 0.5)
    assert schedule.pause(now) == 5
    schedule.note_report(now)
    schedule.note_pending(now)
    assert schedule.pause(now) == MINUTE


def list_reports(events) -> tuple[list[float], float]:
    """Return when reports were made, and when the last event was."""
    schedule, now, reports = Schedule(MINUTE), 0.0, []
    for wait, event in events:
        now += wait
        schedule.note_pending(now)
        if event == "news":
            schedule.note_news(now)
        elif event == "crowding":
            schedule.note_crowding(now)
        if schedule.is_due(now):
            schedule.note_report(now)
            reports.append(now)
    return reports, now


def sequences(*events):
    return st.lists(st.tuples(st.floats(0, 30), st.sampled_from(events)), max_size=300)


@given(sequences("news", "neither"))
def test_any_sequence_of_news_causes_a_bounded_number_of_reports_an_hour(events):
    reports, end = list_reports(events)
    assert len(reports) <= 2 * end / MINUTE + 7


@given(sequences("news", "crowding", "neither"))
@example([(2.0, "crowding")] * 30)
def test_two_seconds_pass_between_two_reports_whatever_happens(events):
    reports, _ = list_reports(events)
    assert all(later - sooner >= 2 - 1e-6 for sooner, later in pairwise(reports))


def test_a_failed_report_is_retried_before_the_interval():
    schedule = Schedule(MINUTE)
    schedule.note_pending(0.0)
    schedule.note_report(60.0)
    schedule.retry_later(60.0)
    assert schedule.pause(60.0) == 15


def test_while_rules_are_unknown_only_fetching_them_is_due():
    schedule, now, pauses = Schedule(MINUTE), 0.0, []
    schedule.note_pending(now)
    for _ in range(8):
        assert schedule.may_fetch_rules(now)
        schedule.fetch_rules_later(now)
        assert not schedule.may_fetch_rules(now)
        pauses.append(schedule.pause(now))
        now += pauses[-1]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    schedule.note_rules()
    assert schedule.pause(now) == 0.0
