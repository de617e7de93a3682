"""Breaking changes that are detected together fire together."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from alerts.rules.breaking_drift import MAX_CHANGES, BreakingChange, group_breaking_changes
from alerts.rules.happenings import Happening
from alerts.rules.known_happenings import leave_out_known
from wire.time.period import QUARTER

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


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
