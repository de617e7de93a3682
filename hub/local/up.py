"""Everything a hub needs on one machine, started in order and stopped together.

PostgreSQL (unless DATABASE_URL names one), migrations, static files, then the web server and a worker with its beat
under honcho until Ctrl-C. What may end by itself runs beside them: the sample, and compressing static files.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from django.conf import settings
from django.db import connections
from django.utils import timezone
from honcho.manager import Manager
from honcho.printer import Message, Printer

from hub.celery import app
from hub.local import database, embedded_postgres, static_files
from hub.local.startup_errors import Refusal
from hub.sample import workspace

READY_SECONDS = 60
WEB_WORKERS = 2
WEB_THREADS = 4
STOPPED = {128 + signal.SIGINT, 128 + signal.SIGTERM}  # as asked


def up(*, announce: Callable[[], None]) -> int:
    """Run until stopped; calls `announce` once the web server answers. Returns the exit status."""
    stop_on_signals()
    with embedded_postgres.the_only_one(settings.HUB_DATA_DIR):
        refuse_taken_port(settings.HUB_HOST, settings.HUB_PORT)
        with running_database():
            prepare()
            return supervise(announce)


def stop_on_signals() -> None:
    """Ctrl-C, SIGTERM and a terminal that goes away unwind the start as well; honcho takes over the first two later."""

    def stop(number: int, frame: object) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # the terminal goes, and nobody said nohup
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))


def refuse_taken_port(host: str, port: int) -> None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise Refusal(
            f"cannot listen on {host} port {port} ({error.strerror}). Set HUB_HOST or HUB_PORT to a free address."
        ) from None


@contextmanager
def running_database() -> Iterator[None]:
    if settings.DATABASE_URL:
        yield
        return
    server = embedded_postgres.Server(settings.HUB_DATA_DIR)
    server.start()
    # The password was made after the settings were read where the cluster is new.
    settings.DATABASES["default"].update(server.connection())
    connections["default"].settings_dict.update(server.connection())
    try:
        yield
    finally:
        connections.close_all()
        server.stop()


def prepare() -> None:
    for folder in ("broker", "broker-control"):
        embedded_postgres.private_folder(settings.HUB_DATA_DIR / folder)
    declare_queue()
    if database.prepare() and settings.HUB_SAMPLE:
        workspace.make(now=timezone.now())
    static_files.collect()


class QuietPrinter(Printer):
    """The processes' own lines; of honcho's, only what is no part of a start."""

    def write(self, message: Message) -> None:
        text = message.data if isinstance(message.data, str) else message.data.decode(errors="replace")
        if message.name != "system" or " started (pid=" not in text:
            super().write(message)


def declare_queue() -> None:
    """Make the folder's table of queues before several processes would do it at once; servers look after theirs."""
    if not settings.CELERY_BROKER_URL.startswith("filesystem:"):
        return
    with app.connection_for_write() as connection:
        app.amqp.queues[app.conf.task_default_queue](connection.default_channel).declare()


def supervise(announce: Callable[[], None]) -> int:
    manager = Manager(QuietPrinter(sys.stderr))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for name, command in processes().items():
        manager.add_process(name, shlex.join(command), quiet=False, env=environment, cwd=str(settings.BASE_DIR))
    beside: list[subprocess.Popen[bytes]] = []

    def ready() -> None:
        announce()
        beside.extend(workspace.start(address(local=True)))
        beside.extend(static_files.compress())

    threading.Thread(target=when_ready, args=(ready, manager), daemon=True).start()
    manager.loop()
    end(beside)
    return 0 if manager.returncode in STOPPED else manager.returncode or 0


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait()


def processes() -> dict[str, list[str]]:
    python = [sys.executable, "-m"]
    web = [*python, "granian", "--interface", "wsgi", "hub.wsgi:application", "--host", settings.HUB_HOST]
    web += [
        "--port",
        str(settings.HUB_PORT),
        "--workers",
        str(WEB_WORKERS),
        "--blocking-threads",
        str(WEB_THREADS),
    ]
    web += ["--no-ws", "--log-level", "warning", "--respawn-failed-workers", "--workers-kill-timeout", "10"]
    # Whoever waits for an answer comes first. As root, which a container often is, Celery warns of pickles; no task
    # here takes any.
    worker = [
        "nice",
        sys.executable,
        "-W",
        "ignore:You're running the worker",
        "-m",
        "celery",
        "--quiet",
        "--app",
        "hub",
        "worker",
        "--beat",
        "--pool",
        "solo",
    ]
    worker += ["--loglevel", "warning", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    return {"web": web, "worker": worker}


def when_ready(announce: Callable[[], None], manager: Manager) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if answers():
            announce()
            connections.close_all()
            return
        time.sleep(0.05)
    print(f"affidavit: the web server did not answer within {READY_SECONDS} s; see above.", file=sys.stderr)
    manager.terminate()


def answers() -> bool:
    try:
        with urllib.request.urlopen(f"{address(local=True)}/healthz", timeout=2) as response:
            return response.status == 200
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def address(*, local: bool = False) -> str:
    """Where the hub is to be found; `local` names this machine where it listens everywhere."""
    host = settings.HUB_HOST
    if local and host in {"0.0.0.0", "::"}:
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.HUB_PORT}"
