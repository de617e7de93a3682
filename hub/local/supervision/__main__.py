"""Keep the processes of a plan running until stopped: `manage.py up` becomes this process when all is prepared."""

from __future__ import annotations

import logging
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hub.local.host_names import bracket
from hub.local.postgresql.server import Server
from hub.local.supervision.ballast import FILE_NAME, Ballast
from hub.local.supervision.plan import Command, Plan, read_plan
from hub.local.supervision.stop_signals import STOP_SIGNALS, handle_stop_signals
from hub.local.supervision.supervisor import Child, Program, Supervisor, stop_children
from hub.telemetry.logs import JsonFormatter, log_uncaught_errors

READY_SECONDS = 60
RESTART_SECONDS = 5
"""How long a restart of PostgreSQL delays the restarts of other programs. PostgreSQL itself may take longer."""
ANSWER_SECONDS = 2.0
UPKEEP_SECONDS = 1.0  # between checks of the free space and of the size of PostgreSQL's log file


class Hub:
    """The processes of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.server = Server(Path(plan.data_dir), RESTART_SECONDS) if plan.has_own_database else None
        self.children = [Child(item.name, item.arguments, item.environment, item.folder) for item in plan.programs]
        programs: list[Program] = [*([self.server] if self.server else []), *self.children]
        self.supervisor = Supervisor(programs, self.on_round)
        self.side_processes: list[subprocess.Popen[bytes]] = []
        self.started_at = time.monotonic()
        self.is_ready = False
        self.ballast = Ballast(Path(plan.data_dir) / FILE_NAME, plan.ballast_bytes)
        self.upkeep_at = 0.0

    def run(self) -> int:
        """Run until stopped. Return the exit status."""
        handle_stop_signals(lambda number, frame: self.supervisor.stop())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        try:
            return self.supervisor.run()
        finally:
            stop_processes(self.side_processes)
            stop_children(self.children)
            if self.server:
                self.server.stop()

    def on_round(self) -> None:
        if not self.is_ready:
            self.check_readiness()
        if self.server and time.monotonic() >= self.upkeep_at:
            self.upkeep_at = time.monotonic() + UPKEEP_SECONDS
            self.ballast.tend()
            self.server.rotate_log()

    def check_readiness(self) -> None:
        """Once the web server answers, say so and start the side processes."""
        if is_answering(self.plan.host, self.plan.port):
            self.is_ready = True
            with suppress(OSError):  # the output was a terminal that was closed
                sys.stdout.write(f"{self.plan.ready_line}\n")
                sys.stdout.flush()
            self.side_processes = [start_side_process(item) for item in self.plan.side_processes]
        elif time.monotonic() - self.started_at > READY_SECONDS:
            print(f"affidavit: the web server did not answer within {READY_SECONDS} s; see above.", file=sys.stderr)
            self.supervisor.stop(1)


def is_answering(host: str, port: int) -> bool:
    """Return whether a web server answers, with whatever status.

    A plain socket is enough. A module for HTTP would take 5 MB of memory.
    """
    request = f"GET /healthz HTTP/1.1\r\nHost: {bracket(host)}\r\nConnection: close\r\n\r\n"
    try:
        with socket.create_connection((host, port), timeout=ANSWER_SECONDS) as connection:
            connection.sendall(request.encode())
            return connection.recv(16).startswith(b"HTTP/")
    except OSError:
        return False


def start_side_process(command: Command) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        command.arguments, stdin=subprocess.PIPE, cwd=command.folder, env=command.environment,
        start_new_session=True,  # a terminal's Ctrl-C is for this process, which ends the others
    )  # fmt: skip
    if process.stdin:
        with process.stdin as stdin:
            stdin.write(command.stdin.encode())
    return process


def stop_processes(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait()


def log_as_json(level: int) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler])
    log_uncaught_errors()


if __name__ == "__main__":
    plan = read_plan(int(sys.argv[1]))
    log_as_json(plan.log_level)
    sys.exit(Hub(plan).run())
