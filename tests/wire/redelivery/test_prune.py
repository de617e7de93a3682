"""Expired answers are deleted until none is left, in turns, so that other tasks can run in between."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from wire import tasks
from wire.models import IdempotentAnswer
from wire.task_turns import Turn

MANY = 6000  # two minutes of answers at 50 a second
pytestmark = pytest.mark.django_db


def store_answers(count: int, *, age: timedelta) -> None:
    IdempotentAnswer.objects.bulk_create(
        IdempotentAnswer(
            workspace_id="w", endpoint="outcomes", key=f"{age} {number}", body_digest=b"", status=200, body=b"{}",
            expires_at=timezone.now() - age,
        )
        for number in range(count)
    )  # fmt: skip


@pytest.fixture
def rings(monkeypatch) -> list[object]:
    """Return the tasks that were sent."""
    sent: list[object] = []
    monkeypatch.setattr(tasks.wake_worker, "send_after_commit", sent.append)
    return sent


def test_no_expired_answer_is_left(rings, monkeypatch):
    monkeypatch.setattr(tasks, "Turn", lambda: Turn(None))  # a busy machine takes longer than a turn
    store_answers(MANY, age=timedelta(minutes=1))
    store_answers(3, age=timedelta(minutes=-1))
    tasks.prune()
    assert (IdempotentAnswer.objects.count(), rings) == (3, [])


def test_after_its_turn_the_task_stops_and_queues_itself_again(rings, monkeypatch):
    monkeypatch.setattr(tasks, "Turn", lambda: Turn(0))
    store_answers(MANY, age=timedelta(minutes=1))
    tasks.prune()
    assert 0 < IdempotentAnswer.objects.count() < MANY
    assert rings == [tasks.prune]
