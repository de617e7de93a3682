"""Is the database fit for this code: new enough, not newer than we are, and migrated?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management import call_command
from django.db import DatabaseError, NotSupportedError, connection
from django.db.migrations.exceptions import MigrationSchemaMissing
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from hub.local.startup_errors import Refusal

OLDEST = 15
NO_RIGHT = "42501"


def prepare() -> bool:
    """For a start: make or bring up to date every table. Returns whether nobody had used the database before.

    Raises Refusal where it is not fit for that.
    """
    refuse_unfit()
    with one_at_a_time():
        unused = is_unused()
        migrate()
    return unused


def prepare_unused() -> None:
    """For a command that may be the first to use the database, and may run beside a hub: make every table, once.

    Raises Refusal where the database is not fit, or waits for an upgrade: that is for the next start to do.
    """
    refuse_unfit()
    with one_at_a_time():
        if is_unused():
            migrate()
        elif pending_migrations():
            raise Refusal("an older version of Affidavit wrote the database. Start this one once; it migrates.")


def is_unused() -> bool:
    """Whether nobody has used this database yet, not even to migrate it."""
    return not MigrationRecorder(connection).has_table()


def pending_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def refuse_unfit() -> None:
    refuse_older_server()
    refuse_newer_database()


def refuse_older_server() -> None:
    try:
        found = connection.pg_version // 10_000
    except NotSupportedError:  # Django looks too, for an older one
        found = 0
    if found < OLDEST:
        raise Refusal(f"DATABASE_URL: the server is older than PostgreSQL {OLDEST}. Name a newer one.")


def refuse_newer_database() -> None:
    """Raises Refusal where the database holds migrations of our apps that this version does not know."""
    loader = MigrationLoader(connection)
    ours = {app for app, _ in loader.disk_migrations}
    unknown = [key for key in loader.applied_migrations if key[0] in ours and key not in loader.disk_migrations]
    if unknown:
        app, name = sorted(unknown)[0]
        raise Refusal(
            f"the database was written by a newer version of Affidavit (it has {app}.{name}). "
            "Install that version, or restore a backup made by this one."
        )


def migrate() -> None:
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as error:
        if isinstance(error, MigrationSchemaMissing) or getattr(error.__cause__, "sqlstate", None) == NO_RIGHT:
            raise Refusal("DATABASE_URL: this user may not make tables. Give it a database that it owns.") from None
        raise


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Whoever comes second waits, and finds the tables made; also on other hosts."""
    holder = connection.copy()
    try:
        holder.set_autocommit(False)  # a transaction's lock: poolers lose a session's
        with holder.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('hub.database', 0))")
        yield
    finally:
        holder.close()
