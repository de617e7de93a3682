"""Prepare the database for this version of the hub: check that it fits, then migrate."""

from __future__ import annotations

from hub.local.database.forgotten_data import refuse_forgotten_data
from hub.local.database.migration_locks import lock_migrations
from hub.local.database.run_migrations import count_pending_migrations, migrate
from hub.local.database.server_requirements import check_server_version
from hub.local.database.unused_database import is_unused
from hub.local.database.web_role import grant_web_role
from hub.local.database.written_version import check_written_version
from hub.local.startup_errors import StartupError
from hub.unfinished_restore import pause_restored_alerts


def prepare_database(*, web_role: str = "") -> bool:
    """Create or upgrade all tables, before a start. Return whether the database was unused before.

    web_role: the role of the web processes, if they have one of their own; it gets its rights again.

    Raises StartupError if the versions do not fit.
    """
    check_fitness()
    with lock_migrations():
        was_unused = is_unused()
        migrate()
        pause_restored_alerts()
        if web_role:
            grant_web_role(web_role)
    return was_unused


def prepare_unused_database() -> bool:
    """Create all tables of an unused database, for a command that may run before the first start or beside a hub.

    Return whether it was unused. Raises StartupError if the versions do not fit, or if the next start of the hub has to
    upgrade it.
    """
    check_fitness()
    with lock_migrations():
        was_unused = is_unused()
        if was_unused:
            migrate()
        elif count_pending_migrations():
            raise StartupError("an older version of Affidavit wrote the database. Start this one once; it migrates.")
    return was_unused


def check_fitness() -> None:
    check_server_version()
    check_written_version()
    refuse_forgotten_data()
