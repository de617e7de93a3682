"""Everything a hub needs on one machine, started in order and stopped together.

PostgreSQL (unless DATABASE_URL names one), migrations, static files, then the web server, a worker and its beat, which
are kept running until Ctrl-C. The processes of the sample, which may end by themselves, run apart.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from django.conf import settings
from django.db import connections
from django.utils import timezone

from hub.celery import app
from hub.local import embedded_postgres, static_files
from hub.local.data_dir import lock_data_dir, make_private_folder
from hub.local.database import prepare_database
from hub.local.startup_errors import StartupError
from hub.local.supervisor import Child, Program, Supervisor, stop_children
from hub.local.web_role import create_embedded_role
from hub.metrics.views import DIRECTORY_VARIABLE
from hub.sample import workspace as sample

READY_SECONDS = 60
WEB_SERVER_LOGS = Path(__file__).with_name("web_server_logs.json")  # the web server's own lines, cleaned as all others
WEB_WORKERS = 2
MAX_CONNECTIONS = 4096  # of each web process
HEADER_MILLISECONDS = 10_000  # for the head of a request, from the connection or the request before it
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_hub(*, announce: Callable[[], None]) -> int:
    """Run until stopped; call `announce` once the web server answers. Return the exit status."""
    stop_on_signals()
    with lock_data_dir(settings.HUB_DATA_DIR):
        check_port(settings.HUB_HOST, settings.HUB_PORT)
        with run_database() as server:
            prepare()
            return supervise(server, announce)


def stop_on_signals() -> None:
    """Let Ctrl-C, SIGTERM and a closed terminal unwind the start as well; the supervisor takes them over later."""
    handle_stop_signals(lambda number, frame: sys.exit(128 + number))


def handle_stop_signals(handle: Callable[[int, FrameType | None], None]) -> None:
    for number in STOP_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN or number != signal.SIGHUP:  # ignored under nohup
            signal.signal(number, handle)


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
def run_database() -> Iterator[embedded_postgres.Server | None]:
    """Run the embedded server, if the hub has no other, and stop it at the end."""
    if settings.DATABASE_URL:
        yield None
        return
    server = embedded_postgres.Server(settings.HUB_DATA_DIR)
    server.start()
    # Where the cluster is new, its password was made after the settings were read.
    settings.DATABASES["default"].update(server.connection_settings())
    connections["default"].settings_dict.update(server.connection_settings())
    try:
        yield server
    finally:
        connections.close_all()
        server.stop()


def prepare() -> None:
    for folder in ("broker", "broker-control"):
        make_private_folder(settings.HUB_DATA_DIR / folder)
    empty_metrics_folder()
    declare_queue()
    if prepare_database(web_role=prepare_web_role()) and settings.HUB_SAMPLE:
        sample.create(now=timezone.now())
    static_files.build()


def prepare_web_role() -> str:
    """Return the database role of the web processes, empty if it is that of all others; make the embedded server's."""
    if settings.DATABASE_URL:
        return str(settings.WEB_DATABASE.get("USER", ""))
    create_embedded_role(embedded_postgres.Server(settings.HUB_DATA_DIR))
    return embedded_postgres.WEB_USER_NAME


def declare_queue() -> None:
    """Create the file broker's table of queues, before several processes do so at once; servers create theirs."""
    if not settings.CELERY_BROKER_URL.startswith("filesystem:"):
        return
    with app.connection_for_write() as connection:
        app.amqp.queues[app.conf.task_default_queue](connection.default_channel).declare()


def supervise(server: embedded_postgres.Server | None, announce: Callable[[], None]) -> int:
    """Keep the database, the web server, the worker and beat running until stopped. Return the exit status."""
    children = [build_child(name, command) for name, command in list_commands().items()]
    side_processes: list[subprocess.Popen[bytes]] = []
    started_at = time.monotonic()
    is_ready = False

    def check_readiness() -> None:
        nonlocal is_ready
        if is_ready:
            return
        if is_answering():
            is_ready = True
            announce()
            side_processes.extend(sample.start_processes(build_address(local=True)))
            connections.close_all()
        elif time.monotonic() - started_at > READY_SECONDS:
            print(f"affidavit: the web server did not answer within {READY_SECONDS} s; see above.", file=sys.stderr)
            supervisor.stop(1)

    programs: list[Program] = [*([server] if server else []), *children]
    supervisor = Supervisor(programs, check_readiness)
    handle_stop_signals(lambda number, frame: supervisor.stop())
    try:
        return supervisor.run()
    finally:
        stop_processes(side_processes)
        stop_children(children)


def build_child(name: str, command: Sequence[str]) -> Child:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), DIRECTORY_VARIABLE: str(metrics_folder())}
    if name == "web":
        environment["DJANGO_SETTINGS_MODULE"] = "hub.web_settings"
    return Child(name, command, environment, str(settings.BASE_DIR))


def empty_metrics_folder() -> None:
    """Remove what the processes of earlier starts counted: each start counts from 0."""
    shutil.rmtree(metrics_folder(), ignore_errors=True)
    make_private_folder(metrics_folder())


def metrics_folder() -> Path:
    return Path(settings.HUB_DATA_DIR / "metrics")


def run_process(name: str) -> NoReturn:
    """Become one process of the hub, for a supervisor of the operator's; `name` is one of list_commands.

    Raises StartupError without DATABASE_URL: the embedded server is started and watched by `up` alone.
    """
    require_own_database()
    make_private_folder(metrics_folder())
    child = build_child(name, list_commands()[name])
    os.chdir(child.folder)
    os.execvpe(child.command[0], list(child.command), child.environment)


def require_own_database() -> None:
    if not settings.DATABASE_URL:
        raise StartupError("DATABASE_URL: required here. Without it, `manage.py up` runs everything, PostgreSQL too.")


def stop_processes(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait()


def list_commands() -> dict[str, list[str]]:
    """Return the command lines of the web server, the worker and beat, by name."""
    web = [sys.executable, "-m", "granian", "--interface", "asginl", "hub.asgi:application"]
    web += ["--host", settings.HUB_HOST, "--port", str(settings.HUB_PORT)]
    web += ["--workers", str(WEB_WORKERS), "--backlog", str(MAX_CONNECTIONS), "--backpressure", str(MAX_CONNECTIONS)]
    # Not HTTP/2: before the server knows which of the two a client speaks, it would wait for ever.
    web += ["--http", "1", "--http1-header-read-timeout", str(HEADER_MILLISECONDS)]
    web += ["--log-config", str(WEB_SERVER_LOGS), "--log-level", "warning"]
    web += ["--no-ws", "--respawn-failed-workers", "--workers-kill-timeout", "10"]
    # `nice`, because the web server comes first. As root, as in many containers, Celery warns of pickles, but no
    # task here takes any.
    celery = ["nice", sys.executable, "-W", "ignore:You're running the worker", "-m", "celery", "--quiet"]
    worker = [*celery, "--app", "hub", "worker", "--pool", "solo", "--loglevel", "warning"]
    worker += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    beat = [*celery, "--app", "hub.beat", "beat", "--pidfile", "", "--loglevel", "warning"]
    return {"web": web, "worker": worker, "beat": beat}


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
