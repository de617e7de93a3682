"""The faults that are injected into a running hub."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import struct
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from hub.local.postgresql.server import Server
from tests.faults.clients import OUTCOMES
from tests.faults.ledger import Item, Ledger
from tests.hub.hub_process import Hub, find_processes, read_parent

HOLD_SECONDS = 3.0
MOST_CONNECTIONS = 60
PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "worker": ("celery", "worker"),
    "beat": ("celery", "beat"),
    "PostgreSQL": ("-D",),
}
PROGRAM_NAMES = ("web parent", "web worker", *PROGRAMS)
INSERT_POISON = """
INSERT INTO catalog_witnessreport (environment_id, report_id, reporter, size, sums, received_at, fault)
SELECT id, %s, '', 100, '{"poison": 1}', now(), ''
FROM workspaces_environment WHERE name = 'production'
"""


@dataclass
class Site:
    """A running hub, with the paths and processes that faults work on."""

    hub: Hub
    key: str
    ledger: Ledger
    chance: random.Random
    small_disk: bool = False
    clock_file: Path | None = None
    connections: list[socket.socket] = field(default_factory=list)

    @property
    def var(self) -> Path:
        return self.hub.folder / "var"

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection of the database's owner."""
        facts = Server(self.var).connection_settings()
        return psycopg.connect(
            make_conninfo(
                host=str(facts["HOST"]), user=str(facts["USER"]), password=str(facts["PASSWORD"]),
                dbname=str(facts["NAME"]), connect_timeout=30,
            ),
            autocommit=True,
        )  # fmt: skip

    def list_processes(self) -> dict[str, list[int]]:
        """Return the process ids of each program of the hub."""
        web = find_processes(self.hub, "granian")
        parents = [pid for pid in web if self.hub.process and read_parent(pid) == self.hub.process.pid]
        programs = {name: find_processes(self.hub, *words) for name, words in PROGRAMS.items()}
        return {"web parent": parents, "web worker": [pid for pid in web if pid not in parents], **programs}


def kill_programs(names: Sequence[str]) -> Callable[[Site], None]:
    """Return a fault: kill one process of each of these programs."""

    def kill(site: Site) -> None:
        processes = site.list_processes()
        for name in names:
            with suppress(ProcessLookupError):
                os.kill(site.chance.choice(processes[name]), signal.SIGKILL)

    return kill


def kill_everything(site: Site) -> None:
    """Kill every process at once, as a power cut without damage to the disk does, and start the hub again."""
    site.hub.kill()
    site.hub.start(seconds=180)


def restart(site: Site) -> None:
    """Stop the hub with Ctrl-C under load, and start it again."""
    process = site.hub.process
    if process:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=180)
    site.hub.start(seconds=180)


def wipe_broker(site: Site) -> None:
    for folder in (site.var / "broker", site.var / "broker-control"):
        for file in folder.glob("*"):
            with suppress(OSError):
                shutil.rmtree(file) if file.is_dir() else file.unlink()


def use_up_connections(site: Site) -> None:
    """Open as many connections as the database allows its owner, and hold them for some seconds."""
    connections: list[psycopg.Connection[Any]] = []
    try:
        for _ in range(MOST_CONNECTIONS):
            connections.append(site.connect())
    except psycopg.OperationalError:
        pass
    time.sleep(HOLD_SECONDS)
    for connection in connections:
        connection.close()


def stop_half_way(site: Site) -> None:
    """Let 20 clients send half a body. Ten hang up; the others stay connected until the next fault of this kind."""
    for connection in site.connections:
        connection.close()
    site.connections.clear()
    for number in range(20):
        name = f"half {uuid.UUID(int=site.chance.getrandbits(128))}"
        item = Item("outcome", f"{name} purchase")
        site.ledger.note_sent({item: 1})
        site.ledger.note_refused({item: 1})
        body = json.dumps({"outcomes": [{"conversationId": name, "outcomeKey": "purchase"}]}).encode()
        head = (
            f"POST {OUTCOMES} HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nx-service-api-key: {site.key}"
        )
        message = f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body[: len(body) // 2]
        with suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", site.hub.port), timeout=10)
            connection.sendall(message)
            if number % 2:
                connection.close()
            else:
                site.connections.append(connection)


def poison_inbox(site: Site) -> None:
    """Add to the inbox a report that cannot be folded. It must become a dead letter. The others must be folded."""
    report_id = str(uuid.UUID(int=site.chance.getrandbits(128), version=4))
    item = Item("dead letter", report_id)
    site.ledger.note_sent({item: 1})
    with site.connect() as connection:
        connection.execute(INSERT_POISON, [report_id])
    site.ledger.note_acknowledged({item: 1})


def fill_disk(site: Site) -> None:
    """Take all the space that is left on the small disk of the hub, for some seconds."""
    filler = site.hub.folder / "filler"
    with filler.open("wb") as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 20))
            file.flush()
    time.sleep(HOLD_SECONDS)
    filler.unlink()


def set_clock(hours: int) -> Callable[[Site], None]:
    """Return a fault: set the clocks of the hub this many hours ahead, until the next fault of this kind."""

    def write_offset(site: Site) -> None:
        assert site.clock_file
        with site.clock_file.open("r+b") as file:  # overwrite the content, because the processes have mapped the file
            file.write(pack_offset(hours * 3600))

    return write_offset


def pack_offset(seconds: int) -> bytes:
    return struct.pack("l", seconds)


KILL_EVERYTHING = "kill -9 of everything, start"
RESTART = "Ctrl-C, start"
OTHER_FAULTS: Mapping[str, Callable[[Site], None]] = {
    "broker wiped": wipe_broker,
    "connections used up": use_up_connections,
    "clients stop half-way": stop_half_way,
    "poison report": poison_inbox,
}
DISK_FULL = "disk full"
CLOCK_FAULTS: Mapping[str, Callable[[Site], None]] = {
    "clock 3 h ahead": set_clock(3),
    "clock 3 h back": set_clock(-3),
    "clock right again": set_clock(0),
}
