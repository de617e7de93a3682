"""The line below the title of a change says how often it was observed, and what people decided."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

import pytest

from catalog.change_page.meaning_and_advice import StatusShare
from catalog.change_page.summary import summarize_change

NOW = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Change:
    pk: int = 5
    part: str = "200"
    kind: str = "new"
    seen: int = 4
    of: int | None = 7
    matching_words: str = ""
    last_day: date | None = None
    acknowledged_at: datetime | None = None


@dataclass(frozen=True)
class Count:
    seen: int = 2
    parents: int | None = 5


VALUES, PRESENCE = Count(), Count(3, 9)


def summarize(change, *, story=(), share=None, absent_now=0, is_muted=False):
    return summarize_change(
        change, story=story, share=share, values_since=VALUES, presence_since=PRESENCE, absent_now=absent_now,
        is_muted=is_muted,
    )  # fmt: skip


def test_a_new_type_is_counted_by_values():
    summary = summarize(Change(kind="type", matching_words="1 string", seen=1))
    assert (summary.count, summary.since_detection) == ("1 string in 1 value when detected", VALUES)
    assert (summary.has_values_before, summary.has_counts) == (True, False)
    assert summarize(Change(kind="type", matching_words="2 strings", seen=1200)).count.startswith(
        "2 strings in 1,200 v"
    )


def test_a_new_status_is_counted_by_the_calls_of_the_latest_day():
    summary = summarize(Change(part="404"), share=StatusShare(1, 1, "today"))
    assert (summary.count, summary.has_counts, summary.since_detection) == ("404 in 1 of 1 call today", True, None)
    assert summarize(Change(part="404"), share=StatusShare(3, 4000, "today")).count == "404 in 3 of 4,000 calls today"


def test_a_new_property_is_counted_when_it_was_detected_and_since_then():
    summary = summarize(Change())
    assert (summary.count, summary.has_values_before, summary.has_counts) == ("", False, True)
    assert summary.since_detection == PRESENCE


@pytest.mark.parametrize(
    "change",
    [
        *(Change(kind=kind) for kind in ("type", "known", "nullable", "not-null", "optional")),
        Change(of=None),
        Change(kind="quiet", last_day=NOW.date()),
    ],
)
def test_other_changes_have_no_count(change):
    summary = summarize(change)
    assert (summary.count, summary.has_values_before, summary.has_counts) == ("", False, False)
    assert summary.since_detection is None


@pytest.mark.parametrize(("of", "absent_now", "absent_by_now"), [(26, 46, 46), (26, 26, 0), (26, 0, 0), (None, 46, 0)])
def test_an_absence_is_said_if_it_became_longer_since_the_detection(of, absent_now, absent_by_now):
    assert summarize(Change(kind="quiet", of=of), absent_now=absent_now).absent_by_now == absent_by_now


def test_the_latest_change_of_the_field_is_named_if_it_is_later():
    earlier, later = Change(pk=4), Change(pk=6)
    assert summarize(Change(), story=[later, earlier]).later == later
    assert summarize(Change(), story=[earlier]).later is None
    assert summarize(Change()).later is None


def test_a_decision_is_named():
    assert summarize(Change()).decision == "not acknowledged yet"
    assert summarize(Change(), is_muted=True).decision == "muted"
    assert summarize(Change(acknowledged_at=NOW), is_muted=True).decision == "acknowledged"
