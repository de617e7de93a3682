"""Messages through a folder of files: each arrives whole and once, while others are being written."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from kombu import Connection
from kombu.simple import SimpleQueue

from hub.local.filesystem_broker import Transport

WRITERS, MESSAGES_OF_WRITER = 3, 200


def connection(folder: Path) -> Connection:
    options = {f"data_folder_{direction}": str(folder) for direction in ("in", "out")}
    options["control_folder"] = str(folder / "control")
    return Connection("filesystem://", transport="hub.local.filesystem_broker:Transport", transport_options=options)


def test_a_message_is_never_read_half_written(tmp_path):
    with connection(tmp_path) as first:
        first.SimpleQueue("bells").close()

    def write(writer: int) -> None:
        with connection(tmp_path) as broker:
            queue = broker.SimpleQueue("bells")
            for number in range(MESSAGES_OF_WRITER):
                queue.put([writer, number])

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in writers:
        thread.start()
    received = []
    deadline = time.monotonic() + 60
    with connection(tmp_path) as broker:
        queue = broker.SimpleQueue("bells")
        while len(received) < WRITERS * MESSAGES_OF_WRITER and time.monotonic() < deadline:
            try:
                message = queue.get(block=False)
            except queue.Empty:
                continue
            message.ack()
            received.append(tuple(message.payload))
    assert sorted(received) == [(writer, number) for writer in range(WRITERS) for number in range(MESSAGES_OF_WRITER)]


def take_all(queue: SimpleQueue) -> list[object]:
    payloads = []
    while True:
        try:
            message = queue.get(block=False)
        except queue.Empty:
            return payloads
        message.ack()
        payloads.append(message.payload)


def test_a_stopping_worker_waits_for_no_more_messages(tmp_path, monkeypatch):
    monkeypatch.setattr(Transport, "is_stopping", True)
    with connection(tmp_path) as broker:
        broker.SimpleQueue("unheard-bells").consumer.consume()
        with pytest.raises(TimeoutError):
            broker.drain_events(timeout=3600)


def test_a_consumer_waits_until_a_message_or_the_timeout(tmp_path):
    with connection(tmp_path) as broker, connection(tmp_path) as other_broker:
        queue = broker.SimpleQueue("late-bells")
        timer = threading.Timer(3 * Transport.polling_interval, other_broker.SimpleQueue("late-bells").put, ["late"])
        timer.start()
        assert queue.get(timeout=60).payload == "late"
        timer.join()
        with pytest.raises(queue.Empty):
            queue.get(timeout=Transport.polling_interval)


def test_a_task_with_the_same_arguments_is_queued_once_and_keeps_its_place(tmp_path):
    with connection(tmp_path) as broker:
        queue = broker.SimpleQueue("equal-bells")
        for argument in (1, 2, 1):
            queue.put([argument], headers={"task": "fold"})
            time.sleep(0.02)  # longer than the resolution of file times
        queue.put([2], headers={"task": "prune"})
        for _ in range(500):
            queue.put([1], headers={"task": "fold"})
        assert len(list(tmp_path.glob("*.equal-bells.msg"))) == 3
        assert take_all(queue) == [[1], [2], [2]]


def test_a_task_that_was_taken_can_be_queued_again(tmp_path):
    with connection(tmp_path) as broker:
        queue = broker.SimpleQueue("repeated-bells")
        for _ in range(2):
            queue.put([1], headers={"task": "fold"})
            assert take_all(queue) == [[1]]
    assert not list(tmp_path.glob("*.msg"))
