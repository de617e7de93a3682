"""Messages to the worker: equal ones that wait become one, a full queue drops new ones, a slow broker delays nobody."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import pytest

from hub.retention.tasks import prune
from wire import wake_worker
from wire.wake_worker import EXPIRE_SECONDS, MAX_PENDING, send_after_commit

REPORTS = 300
pytestmark = pytest.mark.django_db(transaction=True)  # so that transactions really commit


class Task:
    """A task that counts how often it is sent. Sending waits until its broker answers."""

    def __init__(self, expires: int | None = None) -> None:
        self.expires = expires
        self.sent: Counter[tuple[int, ...]] = Counter()
        self.broker_answers = threading.Event()

    def apply_async(self, args: tuple[int, ...], **options: Any) -> None:
        self.broker_answers.wait(10)
        assert options == {"retry": False, "expires": self.expires or EXPIRE_SECONDS, "headers": {}}
        self.sent[args] += 1

    def wait_until_sent(self, *ids: int) -> None:
        deadline = time.monotonic() + 10
        while not self.sent[ids] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self.sent[ids]


@pytest.fixture
def task(monkeypatch) -> Task:
    monkeypatch.setattr(wake_worker, "PAUSE_SECONDS", 0.01)
    return Task()


def test_many_reports_of_an_environment_send_few_messages(task):
    started_at = time.monotonic()
    for _ in range(REPORTS):
        send_after_commit(task, 1)
    send_after_commit(task, 2)
    assert time.monotonic() - started_at < 5
    task.broker_answers.set()
    task.wait_until_sent(2)
    assert task.sent[(1,)] <= 3
    assert task.sent[(2,)] == 1


def test_a_message_after_an_equal_one_was_taken_is_sent_again(task):
    task.broker_answers.set()
    for count in (1, 2, 3):
        send_after_commit(task, 1)
        deadline = time.monotonic() + 10
        while task.sent[(1,)] < count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert task.sent[(1,)] == count


def test_a_full_queue_is_logged_and_drops_further_messages(task, caplog):
    for number in range(2 * MAX_PENDING):
        send_after_commit(task, number)
    assert "doorbell queue is full" in caplog.text
    task.broker_answers.set()
    task.wait_until_sent(MAX_PENDING - 1)


def test_a_message_lives_as_long_as_its_task_says():
    """No sweep finds the rest of the nightly task, so its message must not expire while a worker is busy."""
    task = Task(expires=7200)
    task.broker_answers.set()
    send_after_commit(task, 1)
    task.wait_until_sent(1)
    assert prune.expires > 8 * 3600


def test_a_commit_succeeds_while_the_system_has_no_thread_left(task, caplog, monkeypatch):
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(wake_worker, "_sender", None)
    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", refuse)
        send_after_commit(task, 1)
    assert "doorbell not delivered: RuntimeError" in caplog.text
    task.broker_answers.set()
    send_after_commit(task, 2)
    task.wait_until_sent(2)
