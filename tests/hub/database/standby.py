"""A streaming replica of the test run's embedded server, made by PostgreSQL's own programs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from hub.local.postgresql.programs import run_program


class Standby:
    """A replica in a folder of its own.

    settings: Django's settings of its database.
    """

    def __init__(self, folder: Path, primary: dict[str, Any]) -> None:
        self.data, self.sockets = folder / "data", folder / "sockets"
        self.settings = {**primary, "HOST": str(self.sockets)}
        self._primary = primary

    def create(self) -> None:
        self.sockets.mkdir(mode=0o700)
        os.environ["PGPASSWORD"] = self._primary["PASSWORD"]
        try:
            run_program(
                "pg_basebackup",
                f"--host={self._primary['HOST']}",
                f"--username={self._primary['USER']}",
                f"--pgdata={self.data}",
                "--checkpoint=fast",
                "--no-sync",
                "--write-recovery-conf",
            )
        finally:
            del os.environ["PGPASSWORD"]
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.write(
                f"unix_socket_directories = '{self.sockets}'\nshared_buffers = '16MB'\n"
                "wal_retrieve_retry_interval = 100ms\n"
            )

    def start(self) -> None:
        self._run_pg_ctl("--wait", f"--log={self.data / 'log'}", "start")

    def stop(self) -> None:
        self._run_pg_ctl("--wait", "--mode=immediate", "stop")

    def execute(self, statement: str) -> None:
        with psycopg.connect(
            host=str(self.sockets), user=self.settings["USER"], password=self.settings["PASSWORD"],
            dbname="postgres", autocommit=True,
        ) as connection:  # fmt: skip
            connection.execute(statement)

    def _run_pg_ctl(self, *arguments: str) -> None:
        run_program("pg_ctl", f"--pgdata={self.data}", *arguments)


@contextmanager
def running_standby(primary: dict[str, Any]) -> Iterator[Standby]:
    """Run a replica of a server until the end of the block.

    primary: Django's settings of its database.
    """
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="standby", ignore_cleanup_errors=True) as folder:
        standby = Standby(Path(folder), primary)
        standby.create()
        standby.start()
        try:
            yield standby
        finally:
            run_program("pg_ctl", f"--pgdata={standby.data}", "--wait", "--mode=immediate", "stop", check=False)
