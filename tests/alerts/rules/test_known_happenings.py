"""A happening that fired is known again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from alerts.rules.happenings import Happening
from alerts.rules.known_happenings import leave_out_known

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_happening_stays_the_same_if_late_reports_shift_its_time_slightly():
    happening = Happening("share", START, HOUR)
    assert list(leave_out_known([happening], [("share", START - HOUR / 2)])) == []
    assert list(leave_out_known([happening], [("share", START - HOUR), ("other", START)])) == [happening]
    assert list(leave_out_known([happening, happening], [])) == [happening]
