"""Annotations and breaking drift on the buckets of a chart."""

from datetime import UTC, datetime, timedelta

from workspaces.annotations.marks import COMPATIBLE, DRIFT, ChartEvent, place_marks

START = datetime(2026, 3, 2, tzinfo=UTC)
STARTS = [int((START + timedelta(days=day)).timestamp()) for day in range(7)]


def event(hours, text="Deploy", kind="annotation"):
    return ChartEvent(START + timedelta(hours=hours), text, kind=kind)


def test_each_mark_is_on_the_bucket_that_holds_its_time():
    marks = place_marks(STARTS, [event(0), event(23.9), event(24), event(24 * 8)])
    assert [(mark.bucket, len(mark.events)) for mark in marks] == [(0, 2), (1, 1), (6, 1)]


def test_an_annotation_before_the_first_bucket_has_no_mark():
    assert place_marks(STARTS, [event(-0.1)]) == []
    assert place_marks([], [event(1)]) == []


def test_many_in_one_bucket_are_one_mark_with_a_count():
    mark = place_marks(STARTS, [event(number / 100, f"Deploy {number}") for number in range(40)])[0].as_json()
    assert mark["count"] == 40
    assert mark["texts"] == ["Deploy 0", "Deploy 1", "Deploy 2", "Deploy 3", "and 36 more"]


def test_breaking_drift_gives_its_kind_to_the_mark():
    first, second = place_marks(STARTS, [event(1), event(2, "GET /a: /x removed", DRIFT), event(30)])
    assert (first.kind, second.kind) == ("drift", "annotation")
    assert first.as_json()["texts"] == ["Deploy", "GET /a: /x removed"]


def test_a_mark_has_the_kind_of_its_most_severe_event():
    events = [event(1), event(2, "GET /a: /b added", COMPATIBLE), event(3, "GET /a: /x removed", DRIFT)]
    assert [place_marks(STARTS, events[:count])[0].kind for count in (1, 2, 3)] == ["annotation", COMPATIBLE, DRIFT]
