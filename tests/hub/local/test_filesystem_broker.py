"""Doorbells through the folder of files: every message arrives whole, once, while others are being written."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from kombu import Connection

WRITERS, EACH = 3, 200


def connection(folder: Path) -> Connection:
    options = {f"data_folder_{way}": str(folder) for way in ("in", "out")}
    options["control_folder"] = str(folder / "control")
    return Connection("filesystem://", transport="hub.local.filesystem_broker:Transport", transport_options=options)


def test_a_message_is_never_read_half_written(tmp_path):
    with connection(tmp_path) as first:
        first.SimpleQueue("bells").close()

    def write(writer: int) -> None:
        with connection(tmp_path) as own:
            queue = own.SimpleQueue("bells")
            for number in range(EACH):
                queue.put([writer, number])

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in writers:
        thread.start()
    received = []
    deadline = time.monotonic() + 60
    with connection(tmp_path) as own:
        queue = own.SimpleQueue("bells")
        while len(received) < WRITERS * EACH and time.monotonic() < deadline:
            try:
                message = queue.get(block=False)
            except queue.Empty:
                continue
            message.ack()
            received.append(tuple(message.payload))
    assert sorted(received) == [(writer, number) for writer in range(WRITERS) for number in range(EACH)]
