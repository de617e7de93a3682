"""Which management commands need the database; the embedded server is lent to a command if none is running."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hub.local.data_dir import find_data_dir, lock_data_dir
from hub.local.postgresql.server import Server
from hub.local.startup_errors import UnusedDatabase

COMMANDS_WITHOUT_DATABASE = frozenset(
    {"up", "doctor", "prepare", "run", "help", "check", "makemigrations", "build_static", "spectacular", "--help"}
    | {"--version"}
)  # `up` runs its own server, `doctor` reports if none runs, `prepare` and `run` need DATABASE_URL, others no database
COMMANDS_OF_A_USED_DATABASE = frozenset({"sign_in_link", "grant_web_role"})  # these create none
LONE_COMMANDS = frozenset({"restore"})  # these need the server for themselves


@contextmanager
def lend_server(arguments: Sequence[str]) -> Iterator[None]:
    """Run the embedded server for one management command that needs it, if none is running.

    The server stops with the command, so the data directory is locked: no other process may start to use it. Raises
    StartupError if the server runs already and the command needs it for itself, or if the command needs the database of
    a hub and there is none.
    """
    server = None if os.environ.get("DATABASE_URL") else Server(find_data_dir())
    if server is None or not needs_database(arguments):
        yield
        return
    if arguments[0] not in LONE_COMMANDS and server.is_running():
        yield
        return
    if arguments[0] in COMMANDS_OF_A_USED_DATABASE and not server.cluster.exists():
        raise UnusedDatabase
    server.refuse_moved_data()  # before the lock, which the hub with the moved data may hold
    with lock_data_dir(server.data_dir):
        server.start()
        try:
            yield
        finally:
            server.stop()


def needs_database(arguments: Sequence[str]) -> bool:
    is_help = "--help" in arguments or "-h" in arguments
    return bool(arguments) and arguments[0] not in COMMANDS_WITHOUT_DATABASE and not is_help
