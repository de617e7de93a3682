"""How moments and lengths of time are written."""

from datetime import UTC, datetime, timedelta

import pytest

from workspaces.templatetags import times

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(), "now"),
        (timedelta(seconds=8), "8 s ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=30), "30 days ago"),
        (timedelta(days=90), "1 Dec 2025"),
        (-timedelta(minutes=5), "in 5 min"),
    ],
)
def test_a_relative_time_has_the_exact_time_in_its_title(passed, words):
    written = times.ago(NOW - passed, NOW)
    assert f">{words}</time>" in written
    assert f'datetime="{(NOW - passed).isoformat()}"' in written
    assert "UTC" in written


@pytest.mark.parametrize(
    ("left", "seconds", "words"),
    [
        (timedelta(minutes=4, seconds=8), 248, "4 min 08 s"), (timedelta(minutes=1), 60, "1 min 00 s"),
        (timedelta(seconds=37.2), 38, "38 s"), (timedelta(), 0, "0 s"), (timedelta(seconds=-3), 0, "0 s"),
    ],
)  # fmt: skip
def test_a_countdown_has_its_seconds_for_the_script(left, seconds, words):
    assert f'data-seconds-left="{seconds}">{words}</span>' in times.countdown(NOW + left, NOW)


def test_a_time_that_never_was_is_written_as_never():
    assert times.ago(None) == "never"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "under 1 s"),
        (1.5, "2 s"),
        (119.4, "119 s"),
        (24.8 * 60, "25 min"),
        (24.4 * 60, "24 min"),
        (119.7 * 60, "120 min"),
        (2.5 * 3600, "3 h"),
        (47.6 * 3600, "48 h"),
        (2.4 * 86400, "2 days"),
        (-24.8 * 60, "25 min before the start"),
    ],
)
def test_a_length_is_rounded_to_the_unit_that_it_is_written_in(seconds, words):
    assert times.format_lag(timedelta(seconds=seconds)) == words
