"""Everything a hub needs on one machine, started in order and stopped together.

PostgreSQL (unless DATABASE_URL names one), migrations, static files, then the supervisor (hub.local.supervision), which
keeps the web server, a worker and its beat running until Ctrl-C. The processes of the sample may end by themselves.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from django.conf import settings
from django.db import DatabaseError, OperationalError, connections
from django.utils import timezone

from hub.celery import app
from hub.local import compressed_static_files
from hub.local.command_lines import PROGRAMS, build_command, list_variables, metrics_folder
from hub.local.data_dir import lock_data_dir, make_private_folder
from hub.local.database.prepare import prepare_database
from hub.local.database.web_role import create_embedded_role
from hub.local.database.written_version import check_written_version
from hub.local.listening_address import build_address, check_port, local_host
from hub.local.postgresql.server import WEB_USER_NAME, Server
from hub.local.startup_errors import StartupError
from hub.local.supervision.plan import Command, Plan, become_supervisor
from hub.sample import workspace as sample
from hub.unfinished_restore import FAULT, is_restore_unfinished
from workspaces.secrets.unreadable import warn_of_unreadable_secrets


def run_hub(*, write_ready_line: Callable[[], str]) -> NoReturn:
    """Start the database, prepare it, and become the supervisor, which prints the line when the web server answers."""
    with lock_data_dir(settings.HUB_DATA_DIR):
        check_port(settings.HUB_HOST, settings.HUB_PORT)
        with run_database():
            prepare()
            plan = build_plan(write_ready_line())
            connections.close_all()
            become_supervisor(plan)


@contextmanager
def run_database() -> Iterator[None]:
    """Run the embedded server, if the hub has no other, and stop it at the end."""
    if settings.DATABASE_URL:
        yield
        return
    server = Server(settings.HUB_DATA_DIR)
    server.start()
    # If the cluster is new, its password was created after the settings were read.
    settings.DATABASES["default"].update(server.connection_settings())
    connections["default"].settings_dict.update(server.connection_settings())
    try:
        yield
    finally:
        connections.close_all()
        server.stop()


def prepare() -> None:
    compressed_static_files.build()  # before the database is changed, because it fails in a folder that is read-only
    for folder in ("broker", "broker-control"):
        make_private_folder(settings.HUB_DATA_DIR / folder)
    empty_metrics_folder()
    declare_queue()
    if prepare_database(web_role=prepare_web_role()) and settings.HUB_SAMPLE:
        sample.create(now=timezone.now())
    warn_of_unreadable_secrets(now=timezone.now())


def prepare_web_role() -> str:
    """Return the database role of the web processes; empty if they have none of their own.

    In the embedded server, the role is made here.
    """
    if settings.DATABASE_URL:
        return str(settings.WEB_DATABASE.get("USER", ""))
    create_embedded_role(Server(settings.HUB_DATA_DIR))
    return WEB_USER_NAME


def declare_queue() -> None:
    """Create the file broker's table of queues, before several processes do so at once.

    A broker that is a server of its own creates its queues itself.
    """
    if not settings.CELERY_BROKER_URL.startswith("filesystem:"):
        return
    with app.connection_for_write() as connection:
        app.amqp.queues[app.conf.task_default_queue](connection.default_channel).declare()


def build_plan(ready_line: str) -> Plan:
    return Plan(
        data_dir=str(settings.HUB_DATA_DIR),
        has_own_database=not settings.DATABASE_URL,
        host=local_host(),
        port=settings.HUB_PORT,
        ready_line=ready_line,
        log_level=settings.LOG_LEVEL,
        ballast_bytes=settings.HUB_BALLAST_MIB << 20,
        programs=[build_command(name) for name in PROGRAMS],
        side_processes=[
            Command("sample", [sys.executable, *arguments], list_variables(), str(settings.BASE_DIR), stdin)
            for arguments, stdin in sample.list_processes(build_address(local=True))
        ],
    )


def empty_metrics_folder() -> None:
    """Remove the counts of earlier starts: each start counts from 0."""
    shutil.rmtree(metrics_folder(), ignore_errors=True)
    make_private_folder(metrics_folder())


def run_process(name: str) -> NoReturn:
    """Become one process of the hub, under the operator's own supervisor; `name` is one of PROGRAMS.

    Raises StartupError without DATABASE_URL, because `up` alone starts and watches the embedded server. Raises it, too,
    for a database that a newer version wrote or whose restore was interrupted, and for a web server whose static files
    are missing or whose port is taken. If the database cannot be reached, the process itself waits for it.
    """
    require_own_database()
    with suppress(OperationalError):
        check_written_version()
        refuse_marked_database()
    with suppress(DatabaseError):
        warn_of_unreadable_secrets(now=timezone.now())
    if name == "web":
        compressed_static_files.refuse_old_files()
        check_port(settings.HUB_HOST, settings.HUB_PORT)
    make_private_folder(metrics_folder())
    command = build_command(name)
    os.chdir(command.folder)
    os.execvpe(command.arguments[0], list(command.arguments), command.environment)


def refuse_marked_database() -> None:
    """Raise StartupError if the alerts of a restored database are not paused yet."""
    if is_restore_unfinished():
        raise StartupError(f"{FAULT}. Run `manage.py prepare`; it completes it.")


def require_own_database() -> None:
    if not settings.DATABASE_URL:
        raise StartupError("DATABASE_URL: required here. Without it, `manage.py up` runs everything, PostgreSQL too.")
