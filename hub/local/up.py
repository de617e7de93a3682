"""Everything a hub needs on one machine, started in order and stopped together.

PostgreSQL (unless DATABASE_URL names one), migrations, static files, then the web server and a worker with its beat
under honcho until Ctrl-C. The sample and the compression of static files, which may end by themselves, run apart.
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
from pathlib import Path

from django.conf import settings
from django.db import connections
from django.utils import timezone
from honcho.manager import Manager
from honcho.printer import Message, Printer

from hub.celery import app
from hub.local import embedded_postgres, static_files
from hub.local.data_dir import lock_data_dir, make_private_folder
from hub.local.database import prepare_database
from hub.local.startup_errors import StartupError
from hub.local.web_role import create_embedded_role
from hub.sample import workspace as sample

READY_SECONDS = 60
WEB_SERVER_LOGS = Path(__file__).with_name("web_server_logs.json")  # the web server's own lines, cleaned as all others
WEB_WORKERS = 2
MAX_CONNECTIONS = 4096  # of each web process
HEADER_MILLISECONDS = 10_000  # for the head of a request, from the connection or the request before it
STOPPED_AS_ASKED = {128 + signal.SIGINT, 128 + signal.SIGTERM}


def run_hub(*, announce: Callable[[], None]) -> int:
    """Run until stopped; call `announce` once the web server answers. Return the exit status."""
    stop_on_signals()
    with lock_data_dir(settings.HUB_DATA_DIR):
        check_port(settings.HUB_HOST, settings.HUB_PORT)
        with run_database():
            prepare()
            return supervise(announce)


def stop_on_signals() -> None:
    """Let Ctrl-C, SIGTERM and a closed terminal unwind the start as well; honcho takes over the first two later."""

    def stop(number: int, frame: object) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # ignored under nohup
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))


def check_port(host: str, port: int) -> None:
    """Raises StartupError where the port is taken or the address is not this machine's."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise StartupError(
            f"cannot listen on {host} port {port} ({error.strerror}). Set HUB_HOST or HUB_PORT to a free address."
        ) from None


@contextmanager
def run_database() -> Iterator[None]:
    if settings.DATABASE_URL:
        yield
        return
    server = embedded_postgres.Server(settings.HUB_DATA_DIR)
    server.start()
    # Where the cluster is new, its password was made after the settings were read.
    settings.DATABASES["default"].update(server.connection_settings())
    connections["default"].settings_dict.update(server.connection_settings())
    try:
        yield
    finally:
        connections.close_all()
        server.stop()


def prepare() -> None:
    for folder in ("broker", "broker-control"):
        make_private_folder(settings.HUB_DATA_DIR / folder)
    declare_queue()
    if prepare_database(web_role=prepare_web_role()) and settings.HUB_SAMPLE:
        sample.create(now=timezone.now())
    static_files.collect()


def prepare_web_role() -> str:
    """Return the database role of the web processes, empty if it is that of all others; make the embedded server's."""
    if settings.DATABASE_URL:
        return str(settings.WEB_DATABASE.get("USER", ""))
    create_embedded_role(embedded_postgres.Server(settings.HUB_DATA_DIR))
    return embedded_postgres.WEB_USER_NAME


class QuietPrinter(Printer):  # type: ignore[misc]  # honcho has no types
    """Print the lines of the processes; of honcho's own, only those that do not belong to a start."""

    def write(self, message: Message) -> None:
        text = message.data if isinstance(message.data, str) else message.data.decode(errors="replace")
        if message.name != "system" or " started (pid=" not in text:
            super().write(message)


def declare_queue() -> None:
    """Create the file broker's table of queues, before several processes do so at once; servers create theirs."""
    if not settings.CELERY_BROKER_URL.startswith("filesystem:"):
        return
    with app.connection_for_write() as connection:
        app.amqp.queues[app.conf.task_default_queue](connection.default_channel).declare()


def supervise(announce: Callable[[], None]) -> int:
    manager = Manager(QuietPrinter(sys.stderr))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for name, command in list_commands().items():
        own = {"DJANGO_SETTINGS_MODULE": "hub.web_settings"} if name == "web" else {}
        manager.add_process(
            name, shlex.join(command), quiet=False, env={**environment, **own}, cwd=str(settings.BASE_DIR)
        )
    side_processes: list[subprocess.Popen[bytes]] = []

    def start_side_processes() -> None:
        announce()
        side_processes.extend(sample.start_processes(build_address(local=True)))
        side_processes.extend(static_files.start_compressing())

    threading.Thread(target=wait_until_ready, args=(start_side_processes, manager), daemon=True).start()
    manager.loop()
    stop_processes(side_processes)
    status = int(manager.returncode or 0)
    return 0 if status in STOPPED_AS_ASKED else status


def stop_processes(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait()


def list_commands() -> dict[str, list[str]]:
    """Return the command lines of the web server and the worker, by name."""
    web = [sys.executable, "-m", "granian", "--interface", "asginl", "hub.asgi:application"]
    web += ["--host", settings.HUB_HOST, "--port", str(settings.HUB_PORT)]
    web += ["--workers", str(WEB_WORKERS), "--backlog", str(MAX_CONNECTIONS), "--backpressure", str(MAX_CONNECTIONS)]
    # Not HTTP/2: before the server knows which of the two a client speaks, it would wait for ever.
    web += ["--http", "1", "--http1-header-read-timeout", str(HEADER_MILLISECONDS)]
    web += ["--log-config", str(WEB_SERVER_LOGS), "--log-level", "warning"]
    web += ["--no-ws", "--respawn-failed-workers", "--workers-kill-timeout", "10"]
    # `nice`, because the web server comes first. As root, as in many containers, Celery warns of pickles, but no
    # task here takes any.
    worker = ["nice", sys.executable, "-W", "ignore:You're running the worker", "-m", "celery", "--quiet"]
    worker += ["--app", "hub", "worker", "--beat", "--pool", "solo", "--loglevel", "warning"]
    worker += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return {"web": web, "worker": worker}


def wait_until_ready(on_ready: Callable[[], None], manager: Manager) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if is_answering():
            on_ready()
            connections.close_all()
            return
        time.sleep(0.05)
    print(f"affidavit: the web server did not answer within {READY_SECONDS} s; see above.", file=sys.stderr)
    manager.terminate()


def is_answering() -> bool:
    try:
        with urllib.request.urlopen(f"{build_address(local=True)}/healthz", timeout=2) as response:
            return bool(response.status == 200)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def build_address(*, local: bool = False) -> str:
    """Return the hub's address; `local` names this machine where the hub listens on all addresses."""
    host = settings.HUB_HOST
    if local and host in {"0.0.0.0", "::"}:
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.HUB_PORT}"
