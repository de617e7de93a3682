"""Periodic tasks go on after a clock that was ahead is set back, both in the same process and after a restart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from celery.beat import ScheduleEntry
from celery.schedules import crontab, schedule
from django.conf import settings

from hub.programs import beat_scheduler
from hub.telemetry.logs import JsonFormatter

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
YEARS = timedelta(days=3 * 365)
clock = {"now": START}


def tell_time() -> datetime:
    return clock["now"]


class Scheduler(beat_scheduler.Scheduler):
    """A scheduler that records tasks instead of sending them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.sent: list[str] = []
        super().__init__(*args, **kwargs)

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        self.sent.append(entry.name)

    @property
    def producer(self) -> None: ...

    def send_due(self, now: datetime) -> list[str]:
        """Return the tasks that are sent at this time."""
        clock["now"], self.sent = now, []
        while self.tick() == 0:
            pass
        return sorted(self.sent)


@contextmanager
def scheduler(folder: Path) -> Iterator[Scheduler]:
    app = Celery(set_as_current=False)
    app.conf.result_expires = None  # otherwise Celery adds an entry that uses the real clock
    app.conf.beat_schedule = {
        "often": {"task": "often", "schedule": schedule(timedelta(minutes=10), nowfun=tell_time, app=app)},
        "daily": {"task": "daily", "schedule": crontab(hour="3", minute="30", nowfun=tell_time, app=app)},
    }
    opened = Scheduler(app=app, schedule_filename=str(folder / "beat"))
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture(autouse=True)
def _start_of_the_clock() -> None:
    clock["now"] = START


def test_a_task_that_ran_while_the_clock_was_ahead_runs_again_when_it_is_set_back(tmp_path):
    with scheduler(tmp_path) as beat:
        assert beat.send_due(START) == []
        assert beat.send_due(START + YEARS) == ["daily", "often"]
        assert beat.send_due(START + timedelta(minutes=1)) == []
        assert beat.send_due(START + timedelta(minutes=12)) == ["often"]
        assert beat.send_due(START + timedelta(days=1)) == ["daily", "often"]


def test_a_task_runs_again_after_the_clock_is_set_back_and_a_restart(tmp_path):
    with scheduler(tmp_path) as beat:
        assert beat.send_due(START + YEARS) == ["daily", "often"]
    clock["now"] = START
    with scheduler(tmp_path) as beat:
        assert beat.send_due(START + timedelta(minutes=1)) == []
        assert beat.send_due(START + timedelta(minutes=12)) == ["often"]
        assert beat.send_due(START + timedelta(days=1)) == ["daily", "often"]


def test_with_a_normal_clock_tasks_run_at_their_interval(tmp_path):
    with scheduler(tmp_path) as beat:
        sent = [beat.send_due(START + timedelta(minutes=minutes)) for minutes in range(0, 31, 5)]
    assert sent == [[], [], ["often"], [], ["often"], [], ["often"]]


def test_a_message_that_cannot_be_sent_is_logged_with_its_stack_in_a_field_of_its_own(tmp_path, monkeypatch, caplog):
    def fail(*args: Any, **options: Any) -> None:
        raise OSError("no space left")

    with scheduler(tmp_path) as beat:
        monkeypatch.setattr(beat.app, "send_task", fail)
        monkeypatch.setattr(beat_scheduler.Scheduler, "producer", None)
        beat_scheduler.Scheduler.apply_entry(beat, beat.schedule["often"])
    line = json.loads(JsonFormatter().format(caplog.records[-1]))
    assert line["message"] == "Couldn't apply scheduled task often: no space left"
    assert line["exception"][0] == "SchedulingError"


def test_its_end_does_not_wait_for_an_answer_of_the_broker(tmp_path):
    """RabbitMQ gives none while it has an alarm for memory or disk."""
    with scheduler(tmp_path) as beat:
        connection = vars(beat)["connection"] = beat.app.connection_for_write("memory://")
        connection.connect()
    assert connection.connected, "closing it would wait for the broker"
    connection.release()


def test_the_hub_uses_this_scheduler():
    assert settings.CELERY_BEAT_SCHEDULER == "hub.programs.beat_scheduler:Scheduler"
